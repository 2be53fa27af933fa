"""What the HTML file holds, without opening it in a browser."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morl_recipes.analysis.report.page import write_report
from morl_recipes.analysis.report.study_figures import front_names, study_figures
from morl_recipes.analysis.results.load import load_results
from morl_recipes.store.store import Store
from tests.morl_recipes.conftest import ALL_OF_LINEAR, EVERYTHING, Sweep
from tests.refusals import store_refused

go = pytest.importorskip("plotly.graph_objects", reason="the interactive report needs the extra `report`")

MakeStore = Callable[..., Store]
SECTIONS = ["missing", "hypervolume", "curves", "radar", "front", "controller", "profiles", "tables", "manifest"]


def data_of(page: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    parsed: dict[str, Any] = json.loads(match.group(1))
    return parsed


def test_the_page_holds_every_section_and_loads_nothing(make_store: MakeStore, tmp_path: Path) -> None:
    groups = {"pasta": ["PASTA"], "pcgrad": ["No PCGrad"], "critic": ["Shared Weighted"]}
    store = make_store(Sweep(methods=groups), Sweep(env="toy", preferences=((0.5, 0.5),), iterations=4))
    path = write_report(store, tmp_path / "new" / "report.html", title="Ours & theirs")
    page = path.read_text(encoding="utf-8")
    titles = [study["title"] for study in data_of(page)["studies"]]
    assert titles == ["stealth, pcgrad", "stealth, critic", "toy, baselines"]
    for section in SECTIONS:
        assert f'<section id="{section}">' in page
    own = page.replace(page[page.index("<script>") : page.index("</script>")], "")
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", own)
    assert "default-src 'none'" in page
    assert "<title>Ours &amp; theirs</title>" in page
    assert "Every planned run is here and usable." in page
    assert "morl-blocks sweep synthetic.toml" in page
    assert not list(path.parent.glob(".report*"))


def test_the_page_shows_the_test_score_where_there_is_one(make_store: MakeStore, tmp_path: Path) -> None:
    store = make_store(untested=frozenset(), iterations=4)
    page, peaks = (write_report(store, tmp_path / "r.html", score=score).read_text() for score in (None, "peak"))
    assert "policy of the best validation, on fresh episodes, of each run" in page
    assert "Selection bias" in page
    bars = [data_of(text)["studies"][0]["figures"]["bars"]["all"]["data"][0]["x"][0] for text in (page, peaks)]
    assert bars[0] < bars[1]


@pytest.mark.parametrize("objectives", [2, 3, 4, 5])
def test_every_figure_is_valid_plotly(make_store: MakeStore, objectives: int) -> None:
    weights = tuple([1 / objectives] * objectives)
    store = make_store(preferences=(weights,), seeds=2, iterations=4, env="toy")
    results = load_results(store, history=True)
    (study,) = results.studies
    figures = study_figures(study, results.history)
    expected = {2: ["front_01"], 3: ["front_3d", "front_01", "front_02", "front_12"]}.get(objectives, ["parallel"])
    assert front_names(study) == expected
    named = {"bars", "against", "radar", "profiles", "hv_curve", "eu_curve", "mu", "kappa"}
    assert set(figures) == named | set(expected)
    for choices in figures.values():
        assert set(choices) <= {"all", "0"}
        for figure in choices.values():
            assert "gap" not in figure
            go.Figure(figure)
            assert all("method" in trace["meta"] for trace in figure["data"])
    front = figures[expected[0]]["all"]["data"]
    assert {trace["meta"]["role"] for trace in front} & {"front", "strong"}


def test_the_numbers_in_the_figures_are_those_of_the_store(make_store: MakeStore) -> None:
    results = load_results(make_store(), history=True)
    (study,) = results.studies
    figures = study_figures(study, results.history)
    bar = figures["bars"]["1"]["data"][0]
    assert bar["x"][0] == pytest.approx(study.hv[0, 1].mean(), rel=1e-4)
    paper = figures["bars"]["all"]["data"][1]
    assert (paper["meta"]["role"], paper["x"]) == ("paper", [0.291])
    line = figures["hv_curve"]["0"]["data"][1]
    frame = study.histories(results.history)
    one = frame[(frame["method_index"] == 0) & (frame["preference_index"] == 0)]
    assert line["y"][-1] == pytest.approx(one[one["iteration"] == 19]["hv"].mean(), rel=1e-4)
    assert sum(len(trace["x"]) for trace in figures["front_01"]["all"]["data"]) == 12
    assert line["mode"] == "lines"
    mu = {trace["meta"]["method"] for trace in figures["mu"]["all"]["data"]}
    assert mu == {0}  # Linear has no smoothness


def test_a_curve_of_one_point_can_be_seen(make_store: MakeStore) -> None:
    results = load_results(make_store(iterations=1), history=True)
    figures = study_figures(results.studies[0], results.history)
    lines = [trace for trace in figures["hv_curve"]["all"]["data"] if trace["meta"]["role"] == "line"]
    assert [trace["mode"] for trace in lines] == ["lines+markers"] * 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bounds": False}, "the bounds of its returns are unknown"),
        ({"fail": frozenset({("Linear", 0, 1)})}, "Linear: 1 of 6 runs failed (worker lost)"),
        ({"methods": {"pasta": ["PASTA"]}, "seeds": 1}, "A profile compares methods"),
        ({"nan": ALL_OF_LINEAR}, "6 of 6 runs have returns"),
    ],
)
def test_gaps_are_named(make_store: MakeStore, tmp_path: Path, changes: Any, words: str) -> None:
    page = write_report(make_store(iterations=4, **changes), tmp_path / "r.html").read_text(encoding="utf-8")
    assert words in page
    assert "NaN" not in json.dumps(data_of(page))


def test_failed_report_leaves_an_old_one_alone(make_store: MakeStore, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "r.html").write_text("old")
    store_refused("no finished run yet", write_report, make_store(skip=EVERYTHING), tmp_path / "r.html")
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(ImportError, match=r"morl-blocks\[report\]"):
        write_report(tmp_path / "store", tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text() == "old"
