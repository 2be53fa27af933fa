"""Open the report in headless Chromium, offline, and use it as a reader would."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morl_recipes.report import write_report
from morl_recipes.store import Store

pytest.importorskip("plotly", reason="the interactive report needs the extra `report`")

SECTIONS = [
    "missing",
    "hypervolume",
    "against",
    "curves",
    "radar",
    "front",
    "controller",
    "profiles",
    "tables",
    "manifest",
]
TRACES = "[...document.querySelectorAll('.figure')].flatMap((d) => (d.data || []).map((t) => t.meta.method))"
SCROLLERS = """[...document.querySelectorAll('body, body *')]
  .filter((e) => e.scrollWidth > e.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(e).overflowX)).length"""


@pytest.fixture
def report(make_store: Callable[..., Store], sweep_type: Any, tmp_path: Path) -> Path:
    stealth = sweep_type(methods={"baselines": ["PASTA (Ours)", "Linear", "Tchebycheff"]})
    toy = sweep_type(methods={"mine": ["PASTA", "A"]}, preferences=((0.4, 0.1, 0.3, 0.2),), env="toy", bounds=False)
    return write_report(make_store(stealth, toy), tmp_path / "report.html")


def test_a_reader_opens_it_offline(browser: Any, report: Path) -> None:
    browser.look(1280, 900)
    browser.open(report)
    browser.draw_everything()
    assert browser.run("[...document.querySelectorAll('section')].map((s) => s.id)") == SECTIONS
    assert browser.run("document.querySelectorAll('.js-plotly-plot').length") == 12
    assert browser.requests == [report.resolve().as_uri()]

    # A method is switched off: all of its traces go, the others stay, and it comes back.
    assert set(browser.run(TRACES)) == {0, 1, 2}
    before = len(browser.run(TRACES))
    browser.run("document.querySelector('.chip[data-method=\"1\"]').click()")
    assert set(browser.run(TRACES)) == {0, 2}
    bars = "document.querySelectorAll('[data-figure=bars] .trace.bars').length"
    browser.wait(f"{bars} === 2")
    browser.run("document.querySelector('.chip[data-method=\"1\"]').click()")
    assert len(browser.run(TRACES)) == before
    browser.wait(f"{bars} === 3")

    # A preference is chosen: the bars change.
    value = "document.querySelector('[data-figure=bars]').data[0].x[0]"
    everything = browser.run(value)
    choose = "(id, v) => { const s = document.getElementById(id); s.value = v; s.dispatchEvent(new Event('change')); }"
    browser.run(f"({choose})('preference', '1')")
    assert browser.run(value) != everything

    # Another comparison, with four objectives and no bounds: the gaps say why.
    browser.run(f"({choose})('panel', '1')")
    browser.draw_everything()
    gaps = browser.run("[...document.querySelectorAll('.figure .gap')].map((e) => e.textContent)")
    assert len(gaps) == 5
    assert all("bounds of its returns are unknown" in gap for gap in gaps)
    assert browser.run("document.querySelectorAll('[data-figure=parallel] .scatterlayer .trace').length") >= 2

    # No button may send data away.
    buttons = set(browser.run("[...document.querySelectorAll('.modebar-btn')].map((b) => b.dataset.title)"))
    assert buttons <= {"Download plot as a PNG", "Zoom", "Pan", "Reset axes", "Reset camera to default"}
    assert browser.problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_in_both_schemes(browser: Any, report: Path, scheme: str) -> None:
    browser.look(390, 844, scheme)
    browser.open(report)
    browser.draw_everything()
    assert browser.run("document.documentElement.scrollWidth") <= 390
    assert browser.run(SCROLLERS) == 0
    dark = sum(browser.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")[:3]) < 384
    assert dark == (scheme == "dark")
    line = "document.querySelector('[data-figure=hv_curve]').data.find((t) => t.meta.role === 'line').line.color"
    assert browser.run(line) == {"light": "#d55e00", "dark": "#ff9d5c"}[scheme]
    assert browser.problems == []


def test_the_page_follows_a_change_of_scheme(browser: Any, report: Path) -> None:
    browser.look(1280, 900, "light")
    browser.open(report)
    colour = "document.querySelector('[data-figure=bars]').data[0].marker.line.color"
    browser.wait(f"document.querySelector('[data-figure=bars]').data && {colour} === '#d55e00'")
    browser.look(1280, 900, "dark")
    browser.wait(f"{colour} === '#ff9d5c'")
    assert browser.problems == []
