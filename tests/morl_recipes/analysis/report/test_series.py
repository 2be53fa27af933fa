"""Means and bands over training."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from morl_recipes.analysis.report import points
from morl_recipes.analysis.report.series import MAX_POINTS, curves, history_columns, training_frame
from morl_recipes.analysis.results.load import load_results
from morl_recipes.store.store import Store

MakeStore = Callable[..., Store]


def test_bands_are_one_standard_deviation_over_seeds(make_store: MakeStore) -> None:
    results = load_results(make_store(), history=True)
    (study,) = results.studies
    band = curves(study, training_frame(study, results.history), "eu")[1, 0]
    frame = results.history
    rows = frame[(frame["method"] == "Linear") & (frame["preference"] == study.preferences[0])]
    table = rows.pivot(index="steps", columns="seed", values="eu").to_numpy()
    np.testing.assert_allclose(band.mean, table.mean(1))
    assert band.high is not None
    assert band.low is not None
    np.testing.assert_allclose(band.high, table.mean(1) + table.std(1, ddof=1))
    np.testing.assert_allclose(band.low, table.mean(1) - table.std(1, ddof=1))


def test_the_band_of_all_preferences_is_over_preferences(make_store: MakeStore) -> None:
    results = load_results(make_store(), history=True)
    (study,) = results.studies
    series = curves(study, training_frame(study, results.history), "hv")
    means = np.stack([series[0, 0].mean, series[0, 1].mean])
    whole = series[0, None]
    np.testing.assert_allclose(whole.mean, means.mean(0))
    assert whole.high is not None
    np.testing.assert_allclose(whole.high - whole.mean, means.std(0, ddof=1))


def test_band_is_clipped_to_the_limits_of_its_score(make_store: MakeStore) -> None:
    results = load_results(make_store(), history=True)
    (study,) = results.studies
    frame = training_frame(study, results.history)
    wild = frame.assign(hv=[0.0, 1.0] * (len(frame) // 2), eu=[-5.0, 5.0] * (len(frame) // 2))
    wild["hv"] = np.where(wild["run_id"] == study.run_ids[0, 0, 0], 1.0, 0.0)
    band = curves(study, wild, "hv")[0, 0]
    assert band.low is not None
    assert band.high is not None
    assert band.low.min() == 0
    assert band.high.max() <= 1
    utility = curves(study, wild, "eu")[0, 0]
    assert utility.low is not None
    assert utility.low.min() < 0  # a utility may be negative


def test_only_steps_that_all_seeds_have_are_averaged(make_store: MakeStore) -> None:
    results = load_results(make_store(), history=True)
    (study,) = results.studies
    frame = training_frame(study, results.history)
    short = frame[~((frame["run_id"] == study.run_ids[0, 0, 1]) & (frame["iteration"] > 11))]
    assert len(curves(study, short, "hv")[0, 0].steps) == 12
    assert len(curves(study, short, "hv")[0, None].steps) == 12
    assert len(curves(study, frame, "hv")[0, 0].steps) == 20


def test_one_seed_has_no_band_and_missing_columns_no_curve(make_store: MakeStore, sweep_type: Any) -> None:
    results = load_results(make_store(sweep_type(seeds=1, preferences=((0.5, 0.5),), env="toy")), history=True)
    (study,) = results.studies
    frame = training_frame(study, results.history)
    assert curves(study, frame, "hv")[0, 0].low is None
    assert curves(study, frame, "hv")[0, None].low is None
    assert curves(study, frame, "nothing") == {}


def test_iterations_without_validation_are_skipped_and_long_curves_are_thinned(
    make_store: MakeStore, sweep_type: Any
) -> None:
    results = load_results(make_store(sweep_type(seeds=1, iterations=400)), history=True)
    (study,) = results.studies
    history = results.history.copy()
    history.loc[history["iteration"] % 2 == 0, ["return_0", "return_1", "return_2"]] = np.nan
    series = curves(study, training_frame(study, history), "hv")
    assert len(series[0, 0].steps) == MAX_POINTS
    assert series[0, 0].steps[-1] == 2048 * 400
    assert np.isfinite(series[0, 0].mean).all()


def test_an_empty_history_gives_no_curves(make_store: MakeStore) -> None:
    results = load_results(make_store(), history=True)
    (study,) = results.studies
    empty = replace(results, history=pd.DataFrame(columns=results.history.columns)).history
    assert curves(study, training_frame(study, empty), "hv") == {}


def test_chosen_columns_give_the_same_curves(make_store: MakeStore) -> None:
    store = make_store()
    whole, chosen = (
        load_results(store, history=True, columns=columns) for columns in (None, history_columns(store.manifest))
    )
    assert len(chosen.history.columns) < len(whole.history.columns)
    for column in ("mu", "conflict", "hv"):
        found = [
            curves(one.studies[0], training_frame(one.studies[0], one.history), column)[0, None]
            for one in (whole, chosen)
        ]
        np.testing.assert_array_equal(found[0].mean, found[1].mean)


def test_of_many_dominated_runs_few_are_drawn(make_store: MakeStore) -> None:
    (study,) = load_results(make_store()).studies
    with patch.object(points, "MAX_DOMINATED", 1):
        few = points.run_points(study)
    every = points.run_points(study)
    for (_, returns, labels, best), (_, _, _, all_best) in zip(few, every, strict=True):
        assert (best == 0).sum() == min(1, (all_best == 0).sum())
        assert best.sum() == all_best.sum()
        assert len(returns) == len(labels) == len(best)
    assert sum(len(one[1]) for one in few) < sum(len(one[1]) for one in every)
