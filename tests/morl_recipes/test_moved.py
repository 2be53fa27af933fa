import importlib
import sys

import pytest

from morl_recipes._moved import MOVED


@pytest.mark.parametrize("old", sorted(MOVED))
def test_old_module_names_warn_and_give_the_new_module(old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, f"morl_recipes.{old}", raising=False)
    new = MOVED[old]
    with pytest.warns(DeprecationWarning, match=f"`morl_recipes.{old}` has moved: import `{new}`"):
        module = importlib.import_module(f"morl_recipes.{old}")
    assert module is importlib.import_module(new)
    assert module.__spec__ is not None
    assert module.__spec__.name == module.__name__ == new


def test_a_planned_run_warns_and_is_a_run() -> None:
    with pytest.warns(DeprecationWarning, match=r"`PlannedRun\(run_id, group, ...\)` is `Run"):
        planned = importlib.import_module("morl_recipes.store").PlannedRun
    assert planned("r0", "g", "M", "toy", (0.5, 0.5), 3, 100).seed == 3


@pytest.mark.parametrize("name", ["draw_front", "write_front_page"])
def test_names_that_left_the_fronts_warn_and_are_found(name: str) -> None:
    fronts = importlib.import_module("morl_recipes.running.fronts")
    with pytest.warns(DeprecationWarning, match="`morl_recipes.analysis.fronts`"):
        moved = getattr(fronts, name)
    assert moved is getattr(importlib.import_module("morl_recipes.analysis.fronts"), name)
