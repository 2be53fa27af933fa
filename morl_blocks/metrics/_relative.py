r"""Confidence intervals of metrics that compare methods: win rate, dominance rate and profile area.

The estimated quantity is the average value that repeats of the sweep, with as many new seeds, would give. A rate jumps
when two methods change places, so neither a standard error nor a bootstrap percentile is reliable alone. Each interval
is the union of two, because each of them is reliable where the other is not:

1. estimate :math:`\pm z` times its standard error over resamples of whole seeds. It is reliable with many preferences,
   but shrinks to a point when one method has won on every seed;
2. the expected rate over plausible true means. These lie as far from the measured means as Student's t allows with so
   few seeds, and the noise of the seeds is added to them. It is reliable for a single preference, but biased towards
   the middle when many preferences are averaged.

``python -m benchmarks.coverage`` shows how often the intervals contain the true value. A method that is far behind has
a rate of 0 in every resample, and the interval [0, 0]: its true rate is not 0 but too small to detect.
"""

import numpy as np

from morl_blocks._checks import fail
from morl_blocks._extras import needs
from morl_blocks.metrics._profiles import credits_of, performance_ratios
from morl_blocks.metrics._rates import strict_best
from morl_blocks.metrics._seeds import (
    Interval,
    Mask,
    check_draws,
    deviations,
    freedom_of,
    mask_of,
    quantiles,
    runs_of,
    share,
    shifts,
    stretches,
)
from morl_blocks.metrics.arrays import Array, Values, real_array

INNER = 60
"""Number of simulated repeats that are averaged into the expected rate of one set of plausible true means."""


@needs("scipy")
def win_rate_ci(
    hv: Values, *, present: object = None, level: float = 0.95, resamples: int = 400, seed: int = 0
) -> list[Interval]:
    """Return each method's win rate with a confidence interval (maximise); see the module docstring.

    Args:
        hv: Score of every run, ``[methods, preferences, seeds]``; a column is a seed, the same for all methods.
        present: Which (preference, seed) cells all methods have, ``[preferences, seeds]``; all by default.
        level: Confidence, in (0, 1).
        resamples: Number of resamples, >= 1.
        seed: Seed of the resampling.

    Returns:
        One interval per method, within [0, 1].

    Example:
        >>> clear = win_rate_ci([[[0.50, 0.51, 0.52]], [[0.20, 0.21, 0.19]]])
        >>> clear[0].estimate, clear[0].low > 0.9
        (1.0, True)
        >>> close = win_rate_ci([[[0.50, 0.51, 0.52]], [[0.49, 0.55, 0.47]]])
        >>> close[0].estimate, close[0].low < 0.5
        (1.0, True)
    """
    scores, there = runs_of("hv", hv, present, ndim=3)
    return _rates("hv", scores, there, level, resamples, seed)


@needs("scipy")
def objective_dominance_ci(
    objectives: Values, *, present: object = None, level: float = 0.95, resamples: int = 400, seed: int = 0
) -> list[Interval]:
    """Return each method's objective dominance rate with a confidence interval (maximise); see the module docstring.

    Args:
        objectives: Returns of every run, ``[methods, preferences, seeds, m]``.
        present: Which (preference, seed) cells all methods have, ``[preferences, seeds]``; all by default.
        level: Confidence, in (0, 1).
        resamples: Number of resamples, >= 1.
        seed: Seed of the resampling.

    Returns:
        One interval per method, within [0, 1].

    Example:
        >>> objective_dominance_ci([[[[1.0, 5.0], [1.2, 4.0]]], [[[8.0, 0.5], [9.0, 0.7]]]])[0].estimate
        0.5
    """
    array = real_array("objectives", objectives)
    if array.ndim != 4:
        fail("objectives", "have shape [methods, preferences, seeds, m]", f"shape {list(array.shape)}")
    count, preferences, seeds, m = array.shape
    cells = array.transpose(0, 1, 3, 2).reshape(count, preferences * m, seeds)
    known = None if present is None else np.repeat(mask_of(present, (preferences, seeds)), m, axis=0)
    scores, there = runs_of("objectives", cells, known, ndim=3)
    return _rates("objectives", scores, there, level, resamples, seed)


@needs("scipy")
def profile_auc_ci(
    hv: Values,
    tau_max: float = 3.0,
    *,
    present: object = None,
    level: float = 0.95,
    resamples: int = 400,
    seed: int = 0,
) -> list[Interval]:
    """Return the area under each method's performance profile with a confidence interval; see the module docstring.

    Args:
        hv: Scores >= 0 of every run, ``[methods, preferences, seeds]``.
        tau_max: Factor from which on a method counts as failed on an instance, > 1.
        present: Which (preference, seed) cells all methods have, ``[preferences, seeds]``; all by default.
        level: Confidence, in (0, 1).
        resamples: Number of resamples, >= 1.
        seed: Seed of the resampling.

    Returns:
        One interval per method, within [0, 1].

    Example:
        >>> [round(area.estimate, 3) for area in profile_auc_ci([[[0.4, 0.5]], [[0.2, 0.5]]])]
        [1.0, 0.75]
    """
    scores, there = runs_of("hv", hv, present, ndim=3)
    check_draws(resamples, seed)
    freedom = freedom_of("hv", there)
    level = share("level", level)
    normal, generator = quantiles(level, freedom)[1], np.random.default_rng(seed)
    means, units = deviations(scores, there)
    wide = stretches(freedom, resamples, generator)[:, None, None]
    moved = means + wide * shifts(generator.normal(size=(resamples, scores.shape[-1])), units)
    around = wide[..., None] * np.where(there, scores - means[..., None], 0.0)
    plausible = _area(np.maximum(moved[..., None] + around, 0.0), there, tau_max)
    credit, area = _credit(scores, tau_max), _area(scores, there, tau_max)
    apart = np.where(there, credit - area[:, None, None], 0.0).sum(-2) / there.sum()
    seeds = int(there.any(-2).sum())
    errors = np.sqrt(np.square(apart).sum(-1) * seeds / (seeds - 1))
    return _union(area, errors * normal, plausible, level)


def _credit(scores: Array, tau_max: float) -> Array:
    """Return each run's contribution to its method's area, both ``[*, K, P, S]``."""
    instances = scores.reshape(*scores.shape[:-2], -1)
    return credits_of(performance_ratios(instances), tau_max).reshape(scores.shape)


def _area(scores: Array, there: Mask, tau_max: float) -> Array:
    """Average the contributions over the runs that exist: ``[*, K, P, S]`` to ``[*, K]``."""
    return np.asarray(np.where(there, _credit(scores, tau_max), 0.0).sum((-2, -1)) / there.sum())


def _rates(name: str, scores: Array, there: Mask, level: float, resamples: int, seed: int) -> list[Interval]:
    """Return intervals of the share of strictly best cells; ``scores`` is ``[methods, cells, seeds]``."""
    check_draws(resamples, seed)
    freedom = freedom_of(name, there)
    level = share("level", level)
    normal, generator = quantiles(level, freedom)[1], np.random.default_rng(seed)
    means, units = deviations(scores, there)
    moved = shifts(generator.normal(size=(resamples, scores.shape[-1])), units)
    errors = strict_best(means + moved).mean(-1).std(0)
    wide = stretches(freedom, resamples, generator)[:, None, None]
    # The spread is uncertain too. A sampled spread is exact for two methods on one preference; the measured spread is
    # better for many preferences. Every other resample uses the sampled one.
    noise = np.where(np.arange(resamples)[:, None, None] % 2, wide, 1.0)
    repeats = shifts(generator.normal(size=(INNER, scores.shape[-1])), units)
    truths = means + wide * moved
    plausible = np.mean([strict_best(truths + noise * repeat).mean(-1) for repeat in repeats], axis=0)
    return _union(np.asarray(strict_best(means).mean(-1)), errors * normal, plausible, level)


def _union(estimates: Array, reach: Array, plausible: Array, level: float) -> list[Interval]:
    """Join both intervals of each method so that they contain the estimate and lie within [0, 1]."""
    low, high = np.quantile(plausible, [(1 - level) / 2, (1 + level) / 2], axis=0)
    low = np.maximum(np.minimum(low, estimates - reach), 0.0)
    high = np.minimum(np.maximum(high, estimates + reach), 1.0)
    return [Interval(*map(float, row)) for row in zip(estimates, low, high, strict=True)]
