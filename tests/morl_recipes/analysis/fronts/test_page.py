import base64
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from morl_envs.source import find_source
from morl_recipes import ROWS, Front, train_front
from morl_recipes.analysis.fronts import page
from morl_recipes.analysis.fronts.page import page_data, write_front_page
from morl_recipes.common.errors import StoreError
from morl_recipes.running.fronts.film import film_front
from tests.morl_recipes.worlds import tiny


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
    with pytest.raises(StoreError, match=r"film.png: damaged"):
        page_data(front, film=film)
