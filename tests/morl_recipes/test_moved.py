import importlib
import sys

import pytest

from morl_recipes._moved import MOVED


@pytest.mark.parametrize("old", sorted(MOVED))
def test_old_module_names_warn_and_give_the_new_module(old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, f"morl_recipes.{old}", raising=False)
    with pytest.warns(
        DeprecationWarning, match=rf"`morl_recipes\.{old}` has moved: import `morl_recipes\.{MOVED[old]}`"
    ):
        module = importlib.import_module(f"morl_recipes.{old}")
    assert module is importlib.import_module(f"morl_recipes.{MOVED[old]}")
    assert module.__spec__ is not None
    assert module.__spec__.name == module.__name__ == f"morl_recipes.{MOVED[old]}"


def test_unknown_names_are_not_found() -> None:
    with pytest.raises(ModuleNotFoundError, match="nothing"):
        importlib.import_module("morl_recipes.nothing")
