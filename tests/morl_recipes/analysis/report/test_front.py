"""The page of a front in a browser."""

from pathlib import Path
from typing import Any

import pytest

from morl_recipes import ROWS, train_front
from morl_recipes.analysis.fronts import write_front_page
from tests.morl_recipes.worlds import tiny

pytest.importorskip("plotly", reason="the interactive report needs the extra `report`")

CHOOSE = "(v) => { const s = document.getElementById('weight'); s.value = v; s.dispatchEvent(new Event('input')); }"
DRAWN = "document.getElementById('figure').data"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    recipe = tiny(ROWS["ours"]["Conditioned Linear"])
    short: dict[str, Any] = {"num_envs": 2, "eval_episodes": 1, "progress": False}
    front = train_front(recipe, "deep-sea-treasure-v0", 5, [0, 1], 64, **short)
    return write_front_page(front, tmp_path_factory.mktemp("front") / "front.html", known=front.points)


def test_slider_chooses_the_preference_and_no_button_sends_data(browser: Any, page: Path) -> None:
    browser.look(1280, 900)
    browser.open(page)
    assert browser.run("[...document.querySelectorAll('section')].map((s) => s.id)") == ["choose", "reached"]
    for step, words in ((0, "treasure 0.00time 1.00"), (4, "treasure 1.00time 0.00")):
        browser.run(f"({CHOOSE})({step})")
        assert browser.run("document.getElementById('weights').textContent") == words
    browser.wait(f"{DRAWN} !== undefined")
    assert "exact front" in browser.run(f"{DRAWN}.map((t) => t.name)")
    titles = "[...document.querySelectorAll('#figure .modebar-btn')].map((b) => b.dataset.title)"
    browser.wait(f"{titles}.length > 0")
    assert browser.run(titles) == ["Download plot as a PNG", "Zoom", "Pan", "Reset axes"]
    assert browser.problems == []


def test_bars_fill_a_narrow_page(browser: Any, page: Path) -> None:
    browser.look(400, 900)
    browser.open(page)
    browser.wait("document.querySelectorAll('.bar').length === 2")
    free = "(() => { const b = document.querySelector('.bar'); const r = (e) => e.getBoundingClientRect().right;"
    assert browser.run(f"{free} return r(b.closest('tr')) - r(b); }})()") < 20
