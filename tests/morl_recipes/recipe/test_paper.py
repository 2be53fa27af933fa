"""Recompute the paper's summary tables from its appendix with our metrics."""

from importlib import resources

import numpy as np
import pandas as pd
import pytest

from morl_blocks.metrics import expected_utility, objective_dominance_rate, run_hypervolume, win_rate
from morl_recipes import ROWS
from morl_recipes.recipe import paper

GROUPS = ["baselines", "pcgrad", "controller", "critic", "fixed_mu", "kappa", "lambda", "rho"]
ROUNDING = 0.0005 + 0.0005  # the printed summary and the printed cells it is made of
NUDGE = 1e-6  # below the printed digits


def cells(frame: pd.DataFrame, column: str, methods: list[str]) -> np.ndarray:
    """[methods, preferences]"""
    return frame.pivot(index="method", columns="preference", values=column).loc[methods].to_numpy()


def unrounded(group: str, quantity: str, column: str, methods: list[str]) -> np.ndarray:
    """The printed cells, with the one that the paper prints in bold raised by less than a digit."""
    values, marks = paper.per_preference(), paper.marks()
    bold = cells(marks[(marks["env"] == "stealth") & (marks["group"] == group)], column, methods) == "best"
    printed = cells(values[(values["env"] == "stealth") & (values["group"] == group)], quantity, methods)
    return np.asarray(printed + NUDGE * bold)


def summary(group: str) -> pd.DataFrame:
    frame = paper.summary()
    return frame[frame["group"] == group]


def test_the_tables_are_complete() -> None:
    assert (len(paper.summary()), summary("baselines").shape[0]) == (38, 9)
    assert paper.summary()["group"].unique().tolist() == GROUPS
    assert len(paper.per_preference()) == len(paper.marks()) == 370
    counts = paper.per_preference().groupby("env").size().to_dict()
    assert counts == {"stealth": 352, "frogger": 9, "formation": 9}
    assert (resources.files("morl_recipes") / "data" / "paper" / "README.md").is_file()


def test_both_tables_and_the_recipes_name_the_methods_alike() -> None:
    appendix = paper.per_preference()
    for group in GROUPS:
        named = appendix[(appendix["env"] == "stealth") & (appendix["group"] == group)]["method"].unique().tolist()
        assert named == summary(group)["method"].tolist()
        assert {paper.method_name(name) for name in ROWS[group]} == set(named)


@pytest.mark.parametrize("group", GROUPS)
def test_summary_is_recomputed(group: str) -> None:
    printed = summary(group)
    methods = printed["method"].tolist()
    hv = unrounded(group, "hv_mean", "hv", methods)
    np.testing.assert_allclose(hv.mean(axis=1), printed["hv_mean"], atol=ROUNDING)
    np.testing.assert_allclose(hv.std(axis=1, ddof=1), printed["hv_std"], atol=ROUNDING)
    objectives = np.stack([unrounded(group, f"obj{i}_mean", f"obj{i}", methods) for i in range(3)], axis=-1)
    np.testing.assert_array_equal(np.round(100 * win_rate(hv), 1), printed["win_rate"])
    np.testing.assert_array_equal(np.round(100 * objective_dominance_rate(objectives), 1), printed["obj_dom_rate"])


def test_expected_utility_is_the_weighted_sum_of_the_objectives_in_every_row() -> None:
    for row in paper.per_preference().to_dict("records"):
        weights = paper.preference_weights(row["preference"])
        returns = [row[f"obj{i}_mean"] for i in range(len(weights))]
        assert abs(expected_utility(returns, weights) - row["eu_mean"]) <= 0.001 + 1e-9


def test_the_hypervolume_is_the_product_of_normalised_objectives_on_all_stealth_rows() -> None:
    """Up to the covariances over the five seeds whose means are printed: at most s_i s_j x_k and a third moment."""
    low, volume = np.array([0.81, 48.7, 0.0]), 886_000.0
    rows = paper.per_preference().query("env == 'stealth'")
    means = rows[[f"obj{i}_mean" for i in range(3)]].to_numpy() - low
    spread = rows[[f"obj{i}_std" for i in range(3)]].to_numpy()
    # Only the product of the ranges matters: split it in the shape of the largest means, so that nothing is clipped.
    largest = means.max(axis=0)
    ours = run_hypervolume(means, np.zeros(3), largest * (volume / largest.prod()) ** (1 / 3))
    pairs = sum(spread[:, i] * spread[:, j] * means[:, 3 - i - j] for i, j in [(0, 1), (0, 2), (1, 2)])
    gap = np.abs(ours - rows["hv_mean"].to_numpy())
    assert (gap <= (pairs + 2 * spread.prod(axis=1)) / volume + 0.0005).all()
    assert gap.mean() < 0.0025


def test_a_label_of_the_paper_means_the_weights_of_the_paper() -> None:
    printed = paper.per_preference()["preference"].unique()
    assert [paper.preference_label(paper.preference_weights(label)) for label in printed] == printed.tolist()
    assert paper.preference_label((0.1 + 1e-9, 0.7, 0.2)) == "0.10-0.70-0.20"
    assert paper.preference_label((0.1 + 1e-5, 0.7 - 1e-5, 0.2)) == "0.10001-0.69999-0.20000"
    assert paper.preference_label((0.3333, 0.3333, 0.3334)) == "0.3333-0.3333-0.3334"
    assert paper.preference_label((0.33, 0.67)) == "0.33-0.67"


def test_labels_of_a_table_are_distinct() -> None:
    close = [(0.104, 0.696, 0.2), (0.1, 0.7, 0.2), (0.1041, 0.6959, 0.2), (0.5, 0.25, 0.25)]
    labels = ["0.1040-0.6960-0.2000", "0.10-0.70-0.20", "0.1041-0.6959-0.2000", "0.50-0.25-0.25"]
    assert paper.preference_labels(close) == labels
    assert paper.preference_labels([close[0], close[0]]) == ["0.104-0.696-0.200"] * 2


def test_callers_get_their_own_copy() -> None:
    mine = paper.summary()
    mine["hv_mean"] = 0.0
    assert paper.summary()["hv_mean"].max() == 0.295
