"""Distances of a front from a known one: IGD, IGD+ and additive epsilon. Lower is better for all three."""

from morl_blocks._checks import fail
from morl_blocks._extras import needs
from morl_blocks.metrics._fronts import front_points
from morl_blocks.metrics.arrays import Values
from morl_blocks.scalarizers.base import Sense


@needs("moocore")
def igd(points: Values, known: Values, sense: Sense = "max") -> float:
    r"""Average the distance from each point of a known front to the nearest point found (minimise).

    .. math:: IGD(P; Z) = \frac{1}{|Z|} \sum_{z \in Z} \min_{p \in P} \lVert z - p \rVert_2

    It can prefer a worse front, because a point that *dominates* z counts as far away as one that z dominates.
    :func:`igd_plus` does not have this flaw. The value does not depend on ``sense``, which all front metrics accept.

    Args:
        points: The front found, ``[n, m]`` with m >= 2.
        known: The front to reach, ``[k, m]``.
        sense: Whether more (``"max"``) or less (``"min"``) of every objective is better.

    Returns:
        The mean distance, >= 0; 0 when every known point was found.

    Example:
        >>> igd([[1.0, 0.0]], known=[[1.0, 0.0], [0.0, 0.0]])
        0.5
    """
    return _against("igd", points, known, sense)


@needs("moocore")
def igd_plus(points: Values, known: Values, sense: Sense = "max") -> float:
    r"""Average the shortfall of the nearest point found over the points of a known front (minimise).

    .. math:: IGD^+(P; Z) = \frac{1}{|Z|} \sum_{z \in Z} \min_{p \in P} \sqrt{\sum_i \max(z_i - p_i, 0)^2}

    written for ``"max"``. Only shortfalls count, so a front that dominates another never scores worse.

    Args:
        points: The front found, ``[n, m]`` with m >= 2.
        known: The front to reach, ``[k, m]``.
        sense: Whether more (``"max"``) or less (``"min"``) of every objective is better.

    Returns:
        The mean shortfall, >= 0; 0 when every known point was found or beaten.

    Example:
        >>> igd_plus([[1.0, 0.0]], known=[[1.0, 0.0], [0.0, 0.0]])
        0.0
        >>> igd_plus([[1.0, 0.0]], known=[[1.0, 0.0], [0.0, 0.0]], sense="min")
        0.5
    """
    return _against("igd_plus", points, known, sense)


@needs("moocore")
def additive_epsilon(points: Values, known: Values, sense: Sense = "max") -> float:
    r"""Find the smallest number that, added to every point found, makes them cover a known front (minimise).

    .. math:: \epsilon(P; Z) = \max_{z \in Z} \min_{p \in P} \max_i (z_i - p_i)

    written for ``"max"``. It is negative when the points beat the known front by a margin. It equals the worst gap in
    the worst objective, in that objective's units: rescale objectives of different size first.

    Args:
        points: The front found, ``[n, m]`` with m >= 2.
        known: The front to reach, ``[k, m]``.
        sense: Whether more (``"max"``) or less (``"min"``) of every objective is better.

    Returns:
        The shift; 0 when the known front was found.

    Example:
        >>> additive_epsilon([[1.0, 0.0], [0.0, 1.0]], known=[[1.0, 0.5], [0.0, 1.0]])
        0.5
    """
    return _against("epsilon_additive", points, known, sense)


def _against(metric: str, points: Values, known: Values, sense: Sense) -> float:
    """Check both fronts and pass them to a metric of moocore, which silently drops points with NaN."""
    found, goal = front_points("points", points, sense), front_points("known", known, sense)
    if goal.shape[1] != found.shape[1]:
        fail("known", f"have {found.shape[1]} objectives in its last dimension", f"shape {list(goal.shape)}")
    import moocore

    return float(getattr(moocore, metric)(found, ref=goal, maximise=True))
