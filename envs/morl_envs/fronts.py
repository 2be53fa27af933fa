"""Exact Pareto fronts of the small environments."""

from collections.abc import Iterable
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from morl_envs import _checks, _names
from morl_envs._loading import load
from morl_envs.cards import CARDS, EnvCard, find_card
from morl_envs.quiet import quietly

Points = NDArray[np.float64]


def exact_front(name: str | EnvCard, gamma: float = 1.0) -> Points:
    r"""Return the Pareto front of an environment's discounted returns (maximise).

    The return of an episode is :math:`\sum_{t \ge 0} \gamma^t r_t`: the first reward is not discounted.

    Args:
        name: A card, or its name.
        gamma: Discount in (0, 1].

    Returns:
        The non-dominated points, ``[k, m]``, in ascending order of the first objective. An environment without a known
        front raises ``ValueError``.

    Example:
        >>> exact_front("deep-sea-treasure-concave-v0")[[0, -1]]
        array([[  1.,  -1.],
               [124., -19.]])
    """
    card = find_card(name)
    _checks.finite("gamma", gamma)
    if not 0 < gamma <= 1:
        _names.fail("gamma", "lie in (0, 1]", gamma)
    if card.exact_front is None:
        known = ", ".join(other.name for other in CARDS.values() if other.exact_front is not None)
        _names.fail("name", f"have a known exact front ({known})", card.name)
    return non_dominated(load(card.exact_front)(card, float(gamma)))


def non_dominated(points: ArrayLike) -> Points:
    """Return the distinct points ``[k, m]`` that no other point dominates (maximise), sorted.

    Example:
        >>> non_dominated([[0, 1], [1, 0], [0, 0], [1, 0]])
        array([[0., 1.],
               [1., 0.]])
    """
    distinct: Points = np.unique(np.asarray(points, np.float64), axis=0)
    # Points are distinct, so a point that is at least as good everywhere dominates; each point is so towards itself.
    beaten: NDArray[np.int64] = (distinct[:, None] <= distinct).all(-1).sum(1)
    front: Points = distinct[beaten == 1]
    return front


def mo_gymnasium_front(card: EnvCard, gamma: float) -> Points:
    """Return MO-Gymnasium's ``pareto_front(gamma)`` of the environment."""
    return np.asarray(_unwrapped(card).pareto_front(gamma), np.float64)


_DEATH, _DEAD = 0.1, np.array([-1.0, 0.0, 0.0])


def resource_gathering_front(card: EnvCard, gamma: float) -> Points:
    r"""Solve resource gathering by value iteration on sets of return vectors.

    .. math:: V(s) = \mathrm{ND} \bigcup_a \big\{ (1 - p)(r + \gamma v) + p\, r_{\text{dead}} : v \in V(s') \big\},
              \qquad p = 0.1 \text{ where an enemy stands, else } 0.

    MO-Gymnasium's own ``pareto_front`` (1.3.2) counts six paths and misses a seventh: both resources in 18 steps
    without meeting an enemy. With gamma 1 that path dominates all others. It also discounts by one step too many.
    """
    env = _unwrapped(card)
    cells = [(row, column) for row in range(env.size) for column in range(env.size)]
    states = [(cell, gold, gem) for cell in cells for gold in (0, 1) for gem in (0, 1)]
    values: dict[Any, Points] = {state: np.zeros((1, 3)) for state in states}
    for _ in range(card.horizon):
        fresh = {
            state: non_dominated(np.concatenate([_after(env, state, move, values, gamma) for move in env.dir.values()]))
            for state in states
        }
        if all(np.array_equal(fresh[state], values[state]) for state in states):
            break
        values = fresh
    return values[(tuple(env.initial_pos.tolist()), 0, 0)]


def _after(env: Any, state: Any, move: Iterable[int], values: dict[Any, Points], gamma: float) -> Points:
    """Return the vector returns that can follow one move, ``[k, 3]``."""
    cell, gold, gem = state
    target = tuple(int(old + step) for old, step in zip(cell, move, strict=True))
    target = target if env.is_valid_state(target) else cell
    sign = env.get_map_value(target)
    if sign == "H":
        return np.array([[0.0, gold, gem]])
    later = gamma * values[(target, gold | int(sign == "R1"), gem | int(sign == "R2"))]
    return (1 - _DEATH) * later + _DEATH * _DEAD if sign.startswith("E") else later


def _unwrapped(card: EnvCard) -> Any:
    import mo_gymnasium  # noqa: F401 - registers its environments

    card.check()
    with quietly(gymnasium.spec(card.name)):
        return gymnasium.make(card.name, disable_env_checker=True).unwrapped
