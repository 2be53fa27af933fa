"""How well each method follows its preference: regret and rank correlation over the preferences."""

import math

import numpy as np

from morl_blocks.metrics import Interval, preference_correlation, preference_regret
from morl_blocks.scalarizers import SmoothTchebycheff
from morl_recipes.analysis.results.statistics import NOTHING, mean_interval
from morl_recipes.analysis.results.study import Study
from morl_recipes.analysis.tables.cells import Cell, Table, best_of, interval_cell, interval_numbers

MU = 0.1
HOW = (
    f"Regret: utility (smooth Tchebycheff, mu = {MU}, of returns scaled by the environment's bounds) that a preference "
    "loses because its own policy is not the best of the method's policies of that seed. Rank correlation of asked "
    "weight and achieved return: 1 follows, 0 ignores. In brackets 95 % intervals over seeds."
)


def following(study: Study, method: int) -> tuple[Interval, tuple[Interval, ...], int]:
    """Return the regret of a method, its rank correlation with each objective's weight, and the number of seeds used.

    A seed is used if it has a usable run for every preference. There is no regret without the environment's bounds.
    """
    weights, count = np.array(study.preferences), len(study.info.objectives)
    complete = study.usable[method].all(0)
    if len(weights) < 2 or not complete.any():
        return NOTHING, (NOTHING,) * count, 0
    returns = np.moveaxis(study.returns[method], 1, 0)[complete]  # [S, P, m]
    correlations = preference_correlation(returns, weights).T
    each = tuple(mean_interval(column[None], limits=(-1.0, 1.0)) for column in correlations)
    if study.info.bounds is None:
        return NOTHING, each, len(returns)
    low, high = np.array(study.info.bounds)
    regret = preference_regret((returns - low) / (high - low), weights, SmoothTchebycheff(MU))
    return mean_interval(regret.T, limits=(0.0, math.inf)), each, len(returns)


def following_table(study: Study) -> Table:
    """Build the table of preference following of a study, one row per method."""
    found = [following(study, k) for k in range(len(study.methods))]
    best = best_of([-regret.estimate for regret, _, _ in found])
    rows, numbers = [], []
    for method, (regret, each, seeds), mark in zip(study.methods, found, best, strict=True):
        correlations = (interval_cell(one, 2) for one in each)
        rows.append((Cell(method), interval_cell(regret, 4, best=mark), *correlations, Cell(str(seeds))))
        who: dict[str, object] = {"env": study.env, "group": study.group, "method": method, "seeds": seeds}
        numbers.append(who | interval_numbers({"regret": regret} | dict(zip(study.info.objectives, each, strict=True))))
    notes = list(study.gaps)
    if study.info.bounds is None:
        notes.append(f"No regret: {study.info.bounds_problem}.")
    if len(study.preferences) < 2:
        notes.append("Preference following needs two preferences or more.")
    heads = ("Method", "Regret", *(f"asked and got: {name}" for name in study.info.objectives), "Seeds")
    title = f"{study.env}, {study.group}, preference following"
    return Table(title, heads, tuple(rows), tuple(notes), tuple(numbers))
