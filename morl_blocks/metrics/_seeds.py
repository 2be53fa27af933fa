r"""Resampling of whole seeds: all runs of a seed vary together.

Runs of one seed share random numbers, so they are one observation over all preferences and methods. With :math:`x_{ps}`
the score of preference p and seed s, :math:`n_p` seeds and mean :math:`\bar x_p`,

.. math:: u_{ps} = \frac{x_{ps} - \bar x_p}{\sqrt{n_p (n_p - 1)}}, \qquad \bar x_p^* = \bar x_p + \sum_s g_s u_{ps}

is a resample of the means, with one standard normal weight :math:`g_s` per seed. The covariance of the resampled means
over preferences and methods is that of the sample, divided by the number of seeds.
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from morl_blocks._checks import at_least, between, fail, tensor
from morl_blocks.metrics.arrays import Array, Values, as_array, as_number, not_empty, real_array

Mask = NDArray[np.bool_]


class Interval(NamedTuple):
    """A number with its confidence interval: ``estimate``, ``low``, ``high``."""

    estimate: float
    low: float
    high: float


def runs_of(name: str, values: Values, present: object, *, ndim: int = 2) -> tuple[Array, Mask]:
    """Return scores ``[*, preferences, seeds]`` with 0 for absent runs, and the mask of the runs that exist.

    Args:
        name: Name of the argument, for the message.
        values: Scores; those of absent runs are never read and may be NaN.
        present: Which runs exist, ``[preferences, seeds]``; ``None`` for all.
        ndim: Number of dimensions.
    """
    wanted = "[preferences, seeds]" if ndim == 2 else "[methods, preferences, seeds]"
    raw = real_array(name, values)
    if raw.ndim != ndim:
        fail(name, f"have shape {wanted}", f"shape {list(raw.shape)}")
    there = mask_of(present, raw.shape[-2:])
    not_empty(name, raw)
    if not there.any(-1).all():
        fail("present", "have at least one run per preference", "none")
    return as_array(name, np.where(there, raw, 0.0), ndim=ndim), there


def mask_of(present: object, shape: tuple[int, ...]) -> Mask:
    """Return the mask of the runs that exist, with a given shape; all ``True`` for ``None``."""
    if present is None:
        return np.ones(shape, dtype=np.bool_)
    there = tensor("present", present)
    if there.dtype != torch.bool:
        fail("present", "hold truth values", f"an array of {str(there.dtype).removeprefix('torch.')}")
    if there.shape != shape:
        fail("present", f"have shape {list(shape)}", f"shape {list(there.shape)}")
    return np.asarray(there.cpu().numpy(), dtype=np.bool_)


def freedom_of(name: str, present: Mask) -> int:
    """Return the degrees of freedom: one less than the seeds of the preference that has the fewest."""
    fewest = int(present.sum(-1).min())
    if fewest < 2:
        fail(name, "hold at least 2 seeds per preference", f"{fewest}")
    return fewest - 1


def deviations(values: Array, present: Mask) -> tuple[Array, Array]:
    """Return the seed means ``[*, P]`` and the unit deviations u of the module's equation ``[*, P, S]``."""
    counts = present.sum(-1)
    means = values.sum(-1) / counts
    residuals = np.where(present, values - means[..., None], 0.0)
    return means, residuals / np.sqrt(counts * (counts - 1.0))[:, None]


def shifts(weights: Array, units: Array) -> Array:
    """Return the shift of the means in each resample: weights ``[B, S]``, units ``[*, S]`` give ``[B, *]``.

    Seeds are added one by one, so that methods with equal runs stay bit-identical.
    """
    moved = np.zeros((len(weights), *units.shape[:-1]))
    for seed in range(units.shape[-1]):
        moved += weights[:, seed].reshape(-1, *[1] * (units.ndim - 1)) * units[..., seed]
    return moved


def stretches(freedom: int, count: int, generator: np.random.Generator) -> Array:
    r"""Draw :math:`\sqrt{df / \chi^2_{df}}`, the relative error of a spread measured on few seeds, ``[count]``."""
    return np.sqrt(freedom / generator.chisquare(freedom, size=count))


def quantiles(level: float, freedom: int) -> tuple[float, float]:
    """Return the quantiles of Student's t and of the normal distribution for a two-sided interval.

    Example:
        >>> [round(q, 2) for q in quantiles(0.95, 4)]
        [2.78, 1.96]
    """
    from scipy.special import ndtri, stdtrit  # type: ignore[import-untyped]

    upper = (1 + share("level", level)) / 2
    return float(stdtrit(freedom, upper)), float(ndtri(upper))


def share(name: str, value: Values) -> float:
    """Return a checked confidence level or power: one number strictly between 0 and 1."""
    number = as_number(name, value)
    between(name, number, 0.0, 1.0, bounds="()")
    return number


def check_draws(resamples: int, seed: int) -> None:
    """Require at least one resample, and a seed that NumPy accepts."""
    at_least("resamples", resamples, 1)
    at_least("seed", seed, 0)
