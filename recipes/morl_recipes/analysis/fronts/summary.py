"""Returns of a front under each preference with intervals, and the exact front where it is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit  # type: ignore[import-untyped]

from morl_envs import CARDS, exact_front
from morl_recipes.running.fronts.front import Array, Front

LEVEL, SURE = 0.95, 1.96
"""Of an interval: its level, and half of its width in standard errors that are known well."""


class Reached(NamedTuple):
    """Returns by preference, ``[K, m]`` each.

    Attributes:
        asked: The preferences, those that favour the first objective last.
        mean: Mean over seeds.
        half: Half of the 95 % interval: over seeds, or over episodes where there is one seed; NaN after one episode.
        seeds: Fewest seeds of any preference.
    """

    asked: Array
    mean: Array
    half: Array
    seeds: int


def reached(front: Front) -> Reached:
    """Return what was reached under each preference.

    The interval is over seeds (Student's t), or over episodes where there is one seed.
    """
    asked, group = np.unique(np.round(front.asked, 9), axis=0, return_inverse=True)
    rows = [np.flatnonzero(group.ravel() == number) for number in range(len(asked))]
    fewest = min(len(own) for own in rows)
    mean = np.array([front.returns[own].mean(0) for own in rows])
    if fewest == 1:
        half = SURE * np.array([front.errors[own].mean(0) for own in rows])
    else:
        half = np.array([front.returns[own].std(0, ddof=1) / np.sqrt(len(own)) for own in rows])
        half *= np.array([stdtrit(len(own) - 1, (1 + LEVEL) / 2) for own in rows])[:, None]
    return Reached(asked, mean, half, fewest)


def known_front(front: Front) -> Array | None:
    """Return the exact front under the front's discount, ``[k, m]``; ``None`` where it is not known."""
    card = CARDS.get(front.env)
    return None if card is None or card.exact_front is None else exact_front(front.env, front.gamma)
