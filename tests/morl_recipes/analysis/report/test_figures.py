"""The figures for papers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morl_recipes.analysis.report.figures import write_figures
from morl_recipes.store.store import Store

MakeStore = Callable[..., Store]
NAMES = {"hypervolume", "against", "training", "radar", "front", "controller", "profiles"}


@pytest.mark.parametrize("objectives", [2, 3, 4])
def test_every_figure_is_written(make_store: MakeStore, sweep_type: Any, tmp_path: Path, objectives: int) -> None:
    weights = tuple([1 / objectives] * objectives)
    store = make_store(sweep_type(preferences=(weights,), seeds=2, iterations=4, env="toy"))
    formats = ("png", "pdf") if objectives == 3 else ("png",)
    paths = write_figures(store, tmp_path / "figures", formats=formats)
    names = NAMES | ({"front_3d"} if objectives == 3 else set())
    assert {path.name for path in paths} == {f"toy-baselines_{name}.{form}" for name in names for form in formats}
    for path in paths:
        assert path.read_bytes()[:4] == (b"\x89PNG" if path.suffix == ".png" else b"%PDF")
        assert path.stat().st_size > 4000


def test_figures_that_cannot_be_drawn_say_why(make_store: MakeStore, sweep_type: Any, tmp_path: Path) -> None:
    sweep = sweep_type(
        methods={"p": ["PASTA"]}, bounds=False, seeds=1, iterations=3, preferences=((0.5, 0.5),), env="toy"
    )
    paths = write_figures(make_store(sweep), tmp_path, formats=["svg"])
    texts = {path.stem.split("_", 1)[1]: path.read_text() for path in paths}
    assert set(texts) == NAMES
    assert all("<svg" in text for text in texts.values())


def test_unknown_formats_raise(make_store: MakeStore, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"`formats` must be some of 'png', 'pdf', 'svg', got \('gif',\)"):
        write_figures(make_store(), tmp_path, formats=("gif",))
