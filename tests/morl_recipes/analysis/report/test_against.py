"""The figure of differences to the reference."""

from collections.abc import Callable
from typing import Any

import pytest

from morl_recipes.analysis.report.against import against
from morl_recipes.analysis.results.load import load_results
from morl_recipes.analysis.results.statistics import study_statistics
from morl_recipes.store.store import Store

MakeStore = Callable[..., Store]
THREE = {"baselines": ["PASTA (Ours)", "Linear", "Tchebycheff"]}


def _traces(figure: Any, role: str) -> dict[str, Any]:
    return {t["name"].removesuffix(", paper"): t for t in figure["data"] if t["meta"]["role"] == role}


def test_every_method_stands_with_its_interval_and_the_papers_difference(
    make_store: MakeStore, sweep_type: Any
) -> None:
    (study,) = load_results(make_store(sweep_type(methods=THREE, seeds=5))).studies
    figure = against(study)
    ours, printed = _traces(figure, "interval"), _traces(figure, "paper")
    assert list(ours) == ["Tchebycheff", "Linear"]
    assert printed["Linear"]["x"] == [pytest.approx(0.199 - 0.291)]
    assert printed["Tchebycheff"]["x"] == [pytest.approx(0.122 - 0.291)]
    for row in study_statistics(study):
        if row.against is not None:
            trace = ours[row.method]
            (estimate,), ends = trace["x"], trace["error_x"]
            found = (estimate, estimate - ends["arrayminus"][0], estimate + ends["array"][0])
            assert found == pytest.approx(row.against.difference, abs=1e-5)
            assert trace["meta"]["apart"] == (row.against.verdict != "not distinguishable")


def test_another_row_can_be_the_one_to_compare_with(make_store: MakeStore, sweep_type: Any) -> None:
    (study,) = load_results(make_store(sweep_type(methods=THREE)), against="Linear").studies
    figure = against(study)
    assert set(_traces(figure, "interval")) == {"PASTA (Ours)", "Tchebycheff"}
    assert _traces(figure, "paper")["PASTA (Ours)"]["x"] == [pytest.approx(0.291 - 0.199)]
    assert figure["layout"]["xaxis"]["title"]["text"] == "hypervolume minus Linear's"


def test_incomplete_method_shows_its_runs_and_one_seed_is_left_out(make_store: MakeStore, sweep_type: Any) -> None:
    skip = frozenset({("Linear", 0, 1), *(("Tchebycheff", p, s) for p in (0, 1) for s in (1, 2))})
    (study,) = load_results(make_store(sweep_type(methods=THREE, skip=skip))).studies
    ours = _traces(against(study), "interval")
    assert list(ours) == ["Linear"]
    assert ours["Linear"]["y"][0].startswith("Linear (5 of 6)  <b>")


def test_missing_data_gives_the_reason_instead_of_a_figure(make_store: MakeStore, sweep_type: Any) -> None:
    (study,) = load_results(make_store(sweep_type(seeds=1))).studies
    assert "needs two seeds" in against(study)["gap"]
