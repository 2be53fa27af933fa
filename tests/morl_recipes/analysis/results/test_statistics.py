"""The numbers of a study against the metrics, and rows that came out the same."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from morl_blocks.metrics import bootstrap_ci, compare, objective_dominance_rate, profile_auc, win_rate
from morl_recipes.analysis.results.load import load_results
from morl_recipes.analysis.results.statistics import (
    detectable,
    identical_methods,
    preference_statistics,
    study_statistics,
)
from morl_recipes.analysis.results.study import Study
from morl_recipes.common.scores import UTILITY
from morl_recipes.store.store import Store

MakeStore = Callable[..., Store]
MakeStudy = Callable[..., Study]
THREE = {"baselines": ["PASTA (Ours)", "Linear", "Tchebycheff"]}


def test_a_complete_study_agrees_with_the_metrics(make_study: MakeStudy) -> None:
    study = make_study(methods=THREE)
    rows = study_statistics(study)
    means = study.hv.mean(-1)
    np.testing.assert_allclose([row.hv.estimate for row in rows], means.mean(-1))
    np.testing.assert_allclose([row.hv_spread for row in rows], means.std(-1, ddof=1))
    np.testing.assert_allclose([row.win_rate.estimate for row in rows], win_rate(means))
    np.testing.assert_allclose(
        [row.dominance.estimate for row in rows], objective_dominance_rate(study.returns.mean(2))
    )
    np.testing.assert_allclose([row.auc.estimate for row in rows], profile_auc(study.hv.reshape(3, -1)))
    assert [row.runs for row in rows] == [(6, 6)] * 3
    assert rows[0].against is None
    assert rows[1].against == compare(study.hv[1], study.hv[0])
    for row in rows:
        for interval in (row.hv, row.win_rate, row.dominance, row.auc):
            assert interval.low <= interval.estimate <= interval.high
        assert row.iqm == bootstrap_ci(study.hv[study.methods.index(row.method)], "iqm")
    found = [row.against.detectable for row in rows if row.against is not None]
    assert detectable(rows) == np.median(found)


def test_unequal_seeds_weigh_preferences_equally_and_compare_on_shared_cells(make_study: MakeStudy) -> None:
    study = make_study(skip=frozenset({("Linear", 0, 1)}))
    rows = study_statistics(study)
    expected = (study.hv[1, 0, [0, 2]].mean() + study.hv[1, 1].mean()) / 2
    assert rows[1].hv.estimate == pytest.approx(expected)
    assert rows[1].runs == (5, 6)
    assert rows[1].against is not None
    there = study.usable[1]
    assert rows[1].against == compare(study.hv[1], study.hv[0], present=there)
    assert rows[1].hv.low < expected < rows[1].hv.high
    shared = np.concatenate([study.hv[:, 0, [0, 2]], study.hv[:, 1]], axis=1)
    np.testing.assert_allclose([row.auc.estimate for row in rows], profile_auc(shared))


def test_one_method_one_seed_one_preference(make_study: MakeStudy) -> None:
    study = make_study(methods={"pasta": ["PASTA"]}, preferences=((0.5, 0.5),), seeds=1, env="toy")
    (row,) = study_statistics(study)
    assert row.hv.estimate == study.hv[0, 0, 0]
    for gap in (row.hv.low, row.hv_spread, row.win_rate.estimate, row.dominance.estimate, row.auc.estimate):
        assert np.isnan(gap)
    (cell,) = preference_statistics(study)
    assert cell.pairs[1][0] == study.score(UTILITY)[0, 0, 0]
    assert np.isnan(cell.pairs[1][1])


def test_without_bounds_only_bound_free_statistics_remain(make_study: MakeStudy) -> None:
    study = make_study(bounds=False)
    assert "No hypervolume, win rate or profile on stealth: the bounds of its returns are unknown." in study.gaps
    for row in study_statistics(study):
        assert np.isnan([row.hv.estimate, row.hv_spread, row.win_rate.estimate, row.auc.estimate]).all()
        assert np.isfinite(row.dominance.estimate)
        assert row.against is None


def test_methods_without_a_shared_cell_are_not_compared(make_study: MakeStudy) -> None:
    skip = frozenset({("Linear", 0, s) for s in range(3)} | {("PASTA (Ours)", 1, s) for s in range(3)})
    study = make_study(skip=skip)
    for row in study_statistics(study):
        assert np.isnan([row.win_rate.estimate, row.dominance.estimate, row.auc.estimate]).all()
        assert row.preferences == 1
        assert row.against is None


def test_preference_rows_are_means_over_seeds(make_study: MakeStudy) -> None:
    study = make_study()
    rows = preference_statistics(study)
    assert [(row.preference, row.method) for row in rows] == [(p, m) for p in study.preferences for m in study.methods]
    assert rows[1].hv.estimate == pytest.approx(study.hv[1, 0].mean())
    assert rows[1].pairs[0] == pytest.approx((study.hv[1, 0].mean(), study.hv[1, 0].std(ddof=1)))
    assert rows[2].pairs[3][0] == pytest.approx(study.returns[0, 1, :, 1].mean())


def test_intervals_of_the_hypervolume_stay_where_it_can_be(make_study: MakeStudy) -> None:
    study = make_study(seeds=2, iterations=6)
    wild = study.hv.copy()
    wild[:, :, 0], wild[:, :, 1] = 0.0, 1.0
    for row in study_statistics(replace(study, hv=wild)):
        assert row.hv == (0.5, 0.0, 1.0)


def like(study: Study, first: int, second: int) -> Study:
    """Give a method the returns of another."""
    returns = study.returns.copy()
    returns[second] = returns[first]
    return replace(study, returns=returns)


def test_rows_with_the_same_returns_are_named_and_those_of_another_run_are_not(make_store: MakeStore) -> None:
    methods = {"pasta": ["PASTA"], "pcgrad": ["No PCGrad"], "kappa": ["kappa = 0.2", "kappa = 0.6"]}
    pcgrad, kappa = load_results(make_store(methods=methods)).studies
    assert identical_methods([pcgrad, kappa]) == []  # PASTA stands in both, with the same runs
    assert identical_methods([pcgrad, like(kappa, 1, 2)]) == [("kappa = 0.2", "kappa = 0.6")]
    across = replace(kappa, returns=kappa.returns.copy())
    across.returns[2] = pcgrad.returns[1]
    assert identical_methods([pcgrad, across]) == [("No PCGrad", "kappa = 0.6")]
    assert identical_methods([pcgrad, replace(across, env="elsewhere")]) == []
