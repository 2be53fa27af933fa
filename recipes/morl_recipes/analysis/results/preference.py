"""The numbers of the tables per preference: means and spreads over seeds of every score and objective."""

from dataclasses import dataclass

import numpy as np

from morl_blocks.metrics import Interval
from morl_recipes.analysis.results.statistics import NAN, mean_interval, spread
from morl_recipes.analysis.results.study import Array, Study
from morl_recipes.common import scores

Pair = tuple[float, float]


@dataclass(frozen=True)
class PreferenceStatistics:
    """One row of a table per preference: mean and standard deviation over seeds (ddof 1, NaN for one seed).

    Attributes:
        method: Name of the method.
        preference: The preference.
        seeds: Usable runs.
        hv: Hypervolume with its interval over seeds.
        scores: Each score by its name, mean and standard deviation.
        returns: Raw return of each objective, mean and standard deviation.
    """

    method: str
    preference: tuple[float, ...]
    seeds: int
    hv: Interval
    scores: dict[str, Pair]
    returns: tuple[Pair, ...]


def _pair(values: Array) -> Pair:
    return (float(values.mean()) if len(values) else NAN, spread(values))


def preference_statistics(study: Study) -> list[PreferenceStatistics]:
    """Return one row of the per-preference tables per preference and method, in this order."""
    judged = {score.name: study.score(score) for score in scores.SCORES}
    rows = []
    for p, preference in enumerate(study.preferences):
        for k, method in enumerate(study.methods):
            there = study.usable[k, p]
            rows.append(
                PreferenceStatistics(
                    method=method,
                    preference=preference,
                    seeds=int(there.sum()),
                    hv=mean_interval(study.hv[k, p : p + 1], there[None]),
                    scores={name: _pair(values[k, p, there]) for name, values in judged.items()},
                    returns=tuple(_pair(column) for column in np.transpose(study.returns[k, p, there])),
                )
            )
    return rows
