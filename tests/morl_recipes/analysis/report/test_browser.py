"""Open the report in headless Chromium, offline, and use it as a reader would."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morl_recipes.analysis.report.page import write_report
from morl_recipes.store.store import Store
from tests.morl_recipes.conftest import Sweep, fill

pytest.importorskip("plotly", reason="the interactive report needs the extra `report`")

SECTIONS = ["missing", "hypervolume", "against", "curves", "radar", "front", "controller", "profiles"]
SECTIONS += ["tables", "manifest"]
TRACES = "[...document.querySelectorAll('.figure')].flatMap((d) => (d.data || []).map((t) => t.meta.method))"
CHOOSE = "(id, v) => { const s = document.getElementById(id); s.value = v; s.dispatchEvent(new Event('change')); }"
SCROLLERS = """[...document.querySelectorAll('body, body *')]
  .filter((e) => e.scrollWidth > e.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(e).overflowX)).length"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    stealth = Sweep(methods={"baselines": ["PASTA (Ours)", "Linear", "Tchebycheff"]})
    toy = Sweep(methods={"mine": ["PASTA", "A"]}, preferences=((0.4, 0.1, 0.3, 0.2),), env="toy", bounds=False)
    return write_report(fill(folder / "store", stealth, toy), folder / "report.html")


def test_report_opens_without_network(browser: Any, report: Path) -> None:
    browser.look(1280, 900)
    browser.open(report)
    browser.draw_everything()
    assert browser.run("[...document.querySelectorAll('section')].map((s) => s.id)") == SECTIONS
    assert browser.run("document.querySelectorAll('.js-plotly-plot').length") == 12
    loaded = [address for address in browser.requests if not address.startswith("data:")]  # what the page itself holds
    assert loaded == [report.resolve().as_uri()]

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

    words = "document.querySelector('#{} .how').innerText"
    hypervolume, training, front = (words.format(name) for name in ("hypervolume", "curves", "front"))
    assert "Hollow diamond: the paper." in browser.run(hypervolume)
    assert "mean over preferences of the seed mean" in browser.run(hypervolume)
    assert "standard deviation over preferences" in browser.run(training)

    # A preference is chosen: the bars and the captions change.
    value = "document.querySelector('[data-figure=bars]').data[0].x[0]"
    everything = browser.run(value)
    browser.run(f"({CHOOSE})('preference', '1')")
    assert browser.run(value) != everything
    assert "mean over seeds." in browser.run(hypervolume)
    assert "standard deviation over seeds" in browser.run(training)
    assert browser.run(front).startswith("One mark per run")

    # Another comparison, with four objectives, no bounds and no paper: the gaps say why.
    browser.run(f"({CHOOSE})('study', '1')")
    browser.draw_everything()
    gaps = browser.run("[...document.querySelectorAll('.figure .gap')].map((e) => e.textContent)")
    assert len(gaps) == 5
    assert all("bounds of its returns are unknown" in gap for gap in gaps)
    assert browser.run("document.querySelectorAll('[data-figure=parallel] .scatterlayer .trace').length") >= 2

    assert "diamond" not in browser.run(hypervolume)
    assert browser.run(front).startswith("One line per run")

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
    colours = {"light": "#d55e00", "dark": "#ff9d5c"}
    assert browser.run(line) == colours.pop(scheme)
    ((other, colour),) = colours.items()
    feature = {"name": "prefers-color-scheme", "value": other}
    browser.call("Emulation.setEmulatedMedia", features=[feature])  # the page follows a change of scheme
    browser.wait(f"{line} === '{colour}'")
    assert browser.problems == []


WIDER = """[...document.querySelectorAll('table, .figure')].filter((e) => e.offsetParent !== null &&
  e.getBoundingClientRect().right > e.closest('section').getBoundingClientRect().right).length"""
CUT = """[...document.querySelectorAll('.figure svg.main-svg')].flatMap((svg) => {
  const box = svg.closest('.figure').getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter((t) => t.textContent.trim()).map((t) => t.getBoundingClientRect())
    .filter((t) => t.width && (t.left < box.left - 4 || t.right > box.right + 4));
}).length"""


@pytest.mark.parametrize("width", [768, 1280])
def test_tables_and_labels_fit(browser: Any, make_store: Callable[..., Store], tmp_path: Path, width: int) -> None:
    names = ["PASTA (Ours)", "Linear", "Tchebycheff, vector advantages", "STCH (1.0), exact gradient"]
    store = make_store(methods={"baselines": names}, untested=frozenset(), seeds=2)
    browser.look(width, 900)
    browser.open(write_report(store, tmp_path / "wide.html"))
    browser.draw_everything()
    browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run(WIDER) == 0
    assert browser.run(CUT) == 0


def test_it_prints_with_every_plot_and_a_legend(browser: Any, report: Path) -> None:
    browser.look(1280, 900, "dark")
    browser.open(report)
    drawn = "document.querySelectorAll('.js-plotly-plot').length"
    assert browser.run(drawn) < 12  # the others are drawn when they come near
    browser.run("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.run(drawn) == 12
    widths = "[...document.querySelectorAll('.js-plotly-plot')].map((d) => d.layout.width)"
    assert set(browser.run(widths)) <= {330, 680}
    line = "document.querySelector('[data-figure=hv_curve]').data.find((t) => t.meta.role === 'line').line.color"
    assert browser.run(line) == "#d55e00"  # light, on paper
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert browser.run("document.querySelector('.chip').offsetParent !== null")
    assert browser.run(SCROLLERS) == 0
    browser.call("Emulation.setEmulatedMedia", media="screen")
    browser.run("window.dispatchEvent(new Event('afterprint'))")
    assert 680 not in browser.run(widths)
    assert browser.problems == []
