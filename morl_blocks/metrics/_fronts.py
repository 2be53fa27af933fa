"""Metrics of a front as a set of points: its members, hypervolume, cardinality and sparsity."""

import numpy as np

from morl_blocks._checks import boolean, choice, fail
from morl_blocks._extras import needs
from morl_blocks.metrics._dominance import nondominated
from morl_blocks.metrics._hypervolume import hypervolume
from morl_blocks.metrics.arrays import Array, Values, as_array
from morl_blocks.scalarizers.base import Sense


def front_points(name: str, points: Values, sense: Sense, *, empty: bool = False) -> Array:
    """Return finite points ``[n, m]`` with signs such that more is better.

    Args:
        name: Name of the argument, for the message.
        points: One row per policy, m >= 2.
        sense: ``"min"`` changes every sign.
        empty: Whether a set without points is allowed.

    Example:
        >>> front_points("points", [[1, 2]], "min")
        array([[-1., -2.]])
    """
    choice("sense", sense, ("max", "min"))
    array = as_array(name, points, ndim=2)
    if array.ndim != 2 or array.shape[1] < 2:
        fail(name, "have shape [n, m] with m >= 2", f"shape {list(array.shape)}")
    if not (empty or len(array)):
        fail(name, "hold at least one point", f"shape {list(array.shape)}")
    return array if sense == "max" else -array


@needs("moocore")
def non_dominated(points: Values, sense: Sense = "max") -> Array:
    """Return the distinct points that no other point dominates, in ascending order.

    :func:`nondominated` marks them in place, copies included; this function returns them as a front.

    Args:
        points: One row per policy, ``[n, m]`` with m >= 2.
        sense: Whether more (``"max"``) or less (``"min"``) of every objective is better.

    Returns:
        The front, ``[k, m]``, sorted by the first objective, then by the second, and so on.

    Example:
        >>> non_dominated([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.5]])
        array([[0., 1.],
               [1., 0.]])
    """
    better = front_points("points", points, sense, empty=True)
    distinct: Array = np.unique(better if sense == "max" else -better, axis=0)
    front: Array = distinct[nondominated(distinct if sense == "max" else -distinct)]
    return front


@needs("moocore")
def front_hypervolume(points: Values, reference: Values, sense: Sense = "max", *, allow_empty: bool = False) -> float:
    r"""Measure the volume between a front and a reference point (maximise, in both senses).

    .. math:: HV(P; r) = \lambda\Big(\bigcup_{p \in P} [r, p]\Big)

    Exact, through moocore. Values can only be compared for the same reference point. A reference that no point exceeds
    in every objective is usually a mistake, so it raises an error; with ``allow_empty`` the volume is 0.

    Args:
        points: One row per policy, ``[n, m]`` with m >= 2; dominated points change nothing.
        reference: The point that other points must exceed to count (fall below, for ``"min"``), ``[m]``.
        sense: Whether more (``"max"``) or less (``"min"``) of every objective is better.
        allow_empty: Return 0 when no point exceeds the reference in every objective.

    Returns:
        The volume, in the product of the objectives' units.

    Example:
        >>> front_hypervolume([[2.0, 1.0], [1.0, 2.0]], [0.0, 0.0])
        3.0
        >>> front_hypervolume([[2.0, 1.0], [1.0, 2.0]], [3.0, 3.0], sense="min")
        3.0
    """
    better = front_points("points", points, sense, empty=True)
    corner = as_array("reference", reference, ndim=1)
    floor = corner if sense == "max" else -corner
    volume = hypervolume(better, floor)
    boolean("allow_empty", allow_empty)
    if not allow_empty and not (better > floor).all(1).any():
        side = "below" if sense == "max" else "above"
        rule = f"lie {side} at least one point in every objective (or pass allow_empty=True)"
        fail("reference", rule, corner.tolist())
    return volume


@needs("moocore")
def cardinality(points: Values, sense: Sense = "max") -> int:
    """Count the distinct non-dominated points (maximise, with care: many poor points count as many).

    Args:
        points: One row per policy, ``[n, m]`` with m >= 2.
        sense: Whether more (``"max"``) or less (``"min"``) of every objective is better.

    Example:
        >>> cardinality([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.5]])
        2
    """
    return len(non_dominated(points, sense))


@needs("moocore")
def sparsity(points: Values, sense: Sense = "max") -> float:
    r"""Average the squared gaps between neighbours on a front, objective by objective (lower is denser).

    .. math:: S(P) = \frac{1}{n - 1} \sum_{i=1}^{m} \sum_{k=1}^{n-1} (\tilde p_{k+1,i} - \tilde p_{k,i})^2

    with :math:`\tilde p_{\cdot,i}` objective i of the n front points, sorted. **Do not rank methods by it.** It depends
    only on the points found, not on those missed: a front of one point gets the best value, 0. It also depends on the
    units, and with three or more objectives neighbours along one of them need not be neighbours on the front.
    MORL-Baselines prints the same warning. It is included because published tables report it.

    Args:
        points: One row per policy, ``[n, m]`` with m >= 2; dominated points and copies are left out first.
        sense: Whether more (``"max"``) or less (``"min"``) of every objective is better.

    Returns:
        The sparsity, >= 0; 0 for a single point.

    Example:
        >>> sparsity([[0.0, 3.0], [1.0, 1.0], [3.0, 0.0]])  # (1 + 4 + 1 + 4) / 2
        5.0
    """
    front_points("points", points, sense)
    front = non_dominated(points, sense)
    gaps = np.diff(np.sort(front, axis=0), axis=0)
    return float(np.square(gaps).sum() / max(len(front) - 1, 1))
