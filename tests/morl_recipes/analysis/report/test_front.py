"""The report of a store that was trained for a front."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from morl_recipes import ROWS, train_front
from morl_recipes.analysis.report.page import write_report
from tests.morl_recipes.worlds import tiny

pytest.importorskip("plotly", reason="the interactive report needs the extra `report`")

RECIPE = tiny(ROWS["ours"]["Conditioned Linear"])
CHOOSE = "(v) => { const s = document.getElementById('weight'); s.value = v; s.dispatchEvent(new Event('input')); }"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("front")
    train_front(RECIPE, "deep-sea-treasure-v0", 5, [0, 1], 64, num_envs=2, eval_episodes=1, out=out, progress=False)
    return out


def test_the_slider_over_the_preference_is_in_the_report(browser: Any, folder: Path, tmp_path: Path) -> None:
    report = write_report(folder / "store", tmp_path / "report.html")
    browser.look(1280, 900)
    browser.open(report)
    browser.draw_everything()
    ids = browser.run("[...document.querySelectorAll('section')].map((s) => s.id)")
    assert ids[:4] == ["missing", "choose", "reached", "hypervolume"]
    assert len(ids) == len(set(ids))
    browser.run(f"({CHOOSE})(0)")
    weights = "document.getElementById('weights').textContent"
    assert browser.run(weights) == "treasure 0.00time 1.00"
    browser.run(f"({CHOOSE})(4)")
    assert browser.run(weights) == "treasure 1.00time 0.00"
    assert "exact front" in browser.run("document.getElementById('figure').data.map((t) => t.name)")
    assert browser.run("document.querySelectorAll('[data-figure=bars] .trace.bars').length") == 1
    assert browser.problems == []


def test_no_button_sends_a_front_anywhere(browser: Any, folder: Path, tmp_path: Path) -> None:
    browser.look(1280, 900)
    browser.open(write_report(folder / "store", tmp_path / "report.html"))
    browser.draw_everything()
    titles = "[...document.querySelectorAll('#figure .modebar-btn')].map((b) => b.dataset.title)"
    browser.wait(f"{titles}.length > 0")
    assert browser.run(titles) == ["Download plot as a PNG", "Zoom", "Pan", "Reset axes"]


def test_bars_fill_a_narrow_page(browser: Any, folder: Path, tmp_path: Path) -> None:
    browser.look(400, 900)
    browser.open(write_report(folder / "store", tmp_path / "report.html"))
    browser.wait("document.querySelectorAll('.bar').length === 2")
    free = "(() => { const b = document.querySelector('.bar'); const r = (e) => e.getBoundingClientRect().right;"
    assert browser.run(f"{free} return r(b.closest('tr')) - r(b); }})()") < 20


def test_a_damaged_front_leaves_the_report_of_its_store(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = (folder / "front.json").read_text()
    try:
        (folder / "front.json").write_text(whole[:-20])
        page = write_report(folder / "store", tmp_path / "report.html").read_text()
    finally:
        (folder / "front.json").write_text(whole)
    assert 'id="weight"' not in page
    assert "The front beside the store is not shown" in caplog.text


def test_the_front_of_another_training_is_not_shown(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(folder, tmp_path / "f")
    assert 'id="weight"' in write_report(tmp_path / "f" / "store", tmp_path / "report.html").read_text()
    other = train_front(RECIPE, "deep-sea-treasure-v0", 5, [0, 2], 64, num_envs=2, eval_episodes=1, progress=False)
    other.save(tmp_path / "f")
    assert 'id="weight"' not in write_report(tmp_path / "f" / "store", tmp_path / "report.html").read_text()
    assert "front.json: belongs to another training" in caplog.text
