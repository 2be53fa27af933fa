from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from morl_recipes import Front
from morl_recipes.analysis.fronts.picture import draw_front
from morl_recipes.common.errors import StoreError


def _widened(front: Front, m: int) -> Front:
    """Return a front of m objectives with made-up numbers."""
    numbers = np.random.default_rng(0).random((10, m))
    asked = numbers / numbers.sum(1, keepdims=True)
    names = tuple(f"goal {index}" for index in range(m))
    return replace(front, objectives=names, asked=asked, returns=numbers, errors=0.05 * numbers)


@pytest.mark.parametrize("m", [2, 3, 4, 6])
def test_every_number_of_objectives_has_a_picture(
    conditioned: Front, m: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Figure] = []
    save = Figure.savefig

    def watched(figure: Figure, *args: Any, **kwargs: Any) -> None:
        seen.append(figure)
        save(figure, *args, **kwargs)

    monkeypatch.setattr(Figure, "savefig", watched)
    front = _widened(conditioned, m)
    path = draw_front(front, tmp_path / "a" / "front.png", known=front.points if m < 4 else None)
    assert path.read_bytes().startswith(b"\x89PNG")
    (axes,) = seen[0].axes
    labels = [axes.get_xlabel(), axes.get_ylabel()] if m < 4 else [t.get_text() for t in axes.get_xticklabels()]
    assert all(name in text for name, text in zip(front.objectives, labels, strict=False))
    (legend,) = seen[0].legends
    assert {"seed 3", "seed 4"} <= {text.get_text() for text in legend.get_texts()}


def test_unknown_errors_are_drawn_without_bars(decomposed: Front, tmp_path: Path) -> None:
    assert draw_front(decomposed, tmp_path / "front.svg").stat().st_size > 1000


def test_a_folder_that_cannot_be_written_is_named(conditioned: Front, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"front.png: cannot be written"):
        draw_front(conditioned, tmp_path / "file" / "front.png")
