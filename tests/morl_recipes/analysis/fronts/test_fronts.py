"""Fronts as pages and pictures."""

import base64
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from scipy.special import stdtrit  # type: ignore[import-untyped]

from morl_envs.source import find_source
from morl_recipes import ROWS, Front, train_front
from morl_recipes.analysis.fronts import page
from morl_recipes.analysis.fronts.page import page_data, write_front_page
from morl_recipes.analysis.fronts.picture import draw_front
from morl_recipes.analysis.fronts.summary import reached
from morl_recipes.running.play import film_front
from tests.morl_recipes.worlds import tiny
from tests.refusals import store_refused


@pytest.fixture(autouse=True)
def _no_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "plotly_script", lambda: "/* plotly */")


def _data(path: Path) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_page_holds_the_front_and_loads_nothing(conditioned: Front, tmp_path: Path) -> None:
    path = write_front_page(conditioned, tmp_path / "a" / "front.html", known=conditioned.points)
    text, data = path.read_text(), _data(path)
    assert "/* plotly */" in text
    assert not re.search(r'(src|href)="?https?:', text)
    assert "default-src 'none'" in text
    assert [seed["name"] for seed in data["seeds"]] == ["seed 3", "seed 4"]
    assert data["known"] == conditioned.points.tolist()
    assert len(data["asked"]) == len(data["mean"]) == len(data["half"]) == 5
    assert data["over"] == "seeds"
    kept = data["seeds"][0]["kept"]
    assert np.array(data["seeds"][0]["returns"])[kept].tolist() == conditioned.of(3).points.tolist()


def test_unknown_intervals_and_hostile_names_do_no_harm(decomposed: Front, tmp_path: Path) -> None:
    named = replace(decomposed, env="</script><b>", objectives=("<img>", "b"))
    assert draw_front(decomposed, tmp_path / "front.svg").stat().st_size > 1000
    path = write_front_page(named, tmp_path / "front.html")
    assert "<img>" not in path.read_text()
    assert path.read_text().count("</script>") == 3
    assert _data(path)["half"][0] == [None, None]


def test_published_values_are_shown_only_for_the_same_protocol(conditioned: Front, tmp_path: Path) -> None:
    hopper = replace(conditioned, env="mo-hopper-2obj-v5", gamma=0.99)
    text = write_front_page(hopper, tmp_path / "b.html").read_text()
    assert "137000" in text
    assert "this front, mean of 2" in text
    for other in (replace(hopper, gamma=1.0), replace(hopper, env="mo-ant-2obj-v5"), conditioned):
        assert "Published" not in write_front_page(other, tmp_path / "b.html").read_text()


def test_torch_environment_has_film_strips(tmp_path: Path) -> None:
    recipe = tiny(ROWS["ours"]["Conditioned Linear"])
    front = train_front(recipe, "frogger", 3, [0], 64, num_envs=2, eval_episodes=1, progress=False)
    film = film_front(front, tmp_path, find_source("frogger"))
    strips = page_data(front, film=film)["strips"]
    assert [strip["index"] for strip in strips] == [0, 1, 2]
    head, _, content = strips[0]["picture"].partition(",")
    assert head == "data:image/png;base64"
    assert Image.open(io.BytesIO(base64.b64decode(content))).size == (7 * 170, 170)
    assert film_front(front, tmp_path, find_source("deep-sea-treasure-v0")) is None
    (tmp_path / "film.png").write_bytes(b"text")
    store_refused(r"film.png: damaged", page_data, front, film=film)


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
    seen, save = list[Figure](), Figure.savefig

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


def test_the_interval_is_over_seeds_where_there_are_several(conditioned: Front) -> None:
    summary = reached(conditioned)
    assert summary.asked.shape == summary.mean.shape == summary.half.shape == (5, 2)
    assert summary.seeds == 2
    own = np.stack([front.returns[np.argsort(front.asked[:, 0])] for front in map(conditioned.of, (3, 4))])
    assert summary.mean == pytest.approx(own.mean(0))
    assert summary.half == pytest.approx(stdtrit(1, 0.975) * own.std(0, ddof=1) / np.sqrt(2))


def test_the_interval_is_over_episodes_for_one_seed(conditioned: Front, decomposed: Front) -> None:
    one = conditioned.of(3)
    order = np.argsort(one.asked[:, 0])
    assert reached(one).half == pytest.approx(1.96 * one.errors[order])
    assert np.isnan(reached(decomposed).half).all()  # a single episode tells nothing about its spread


def test_preferences_that_differ_by_rounding_are_one(conditioned: Front) -> None:
    shaken = replace(conditioned, asked=conditioned.asked + 1e-12)
    both = replace(conditioned, asked=np.where(conditioned.member[:, None] == 0, conditioned.asked, shaken.asked))
    assert len(reached(both).asked) == 5
