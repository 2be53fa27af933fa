"""Small worlds with two objectives whose best expected utility is known in closed form."""

from typing import NamedTuple

import torch
from torch import Tensor

from morl_blocks.scalarizers import SmoothTchebycheff

MU, UTOPIA = 0.1, 1.05
DOUBLE = torch.float64


class Arms(NamedTuple):
    """A world of one step: each arm pays one of several vectors by chance.

    Attributes:
        outcome: What is paid, ``[K, O, 2]``, in [0, 1].
        chance: How likely, ``[K, O]``; each row sums to 1.
    """

    outcome: Tensor
    chance: Tensor

    @property
    def mean(self) -> Tensor:
        """Expected vectors of the arms, ``[K, 2]``."""
        return (self.chance.unsqueeze(-1) * self.outcome).sum(1)

    def play(self, action: Tensor, generator: torch.Generator) -> Tensor:
        """Return what arms pay, ``[*B] -> [*B, 2]``."""
        drawn = torch.multinomial(self.chance[action.flatten()], 1, generator=generator).squeeze(-1)
        return self.outcome[action.flatten(), drawn].reshape(*action.shape, 2)


def concave_arms(count: int = 11) -> Arms:
    """Return sure arms on a concave front: only the two ends are best for a linear utility."""
    first = torch.linspace(0, 1, count, dtype=DOUBLE)
    return Arms(torch.stack([first, (1 - first.sqrt()).square()], -1).unsqueeze(1), torch.ones(count, 1, dtype=DOUBLE))


def coins() -> Arms:
    """Return arms that pay (1, 0) or (0, 1) by chance, and sure arms that pay less of both on average.

    A coin is best for what it pays on average, and bad on every single throw: the two criteria part.
    """
    heads, sure = torch.tensor([0.0, 0.25, 0.5, 0.75, 1.0]), torch.tensor([[0.15, 0.6], [0.4, 0.4], [0.6, 0.15]])
    sides = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).expand(len(heads), 2, 2)
    outcome = torch.cat([sides, sure.unsqueeze(1).expand(-1, 2, -1)])
    return Arms(
        outcome.to(DOUBLE), torch.cat([torch.stack([heads, 1 - heads], -1), torch.full((3, 2), 0.5)]).to(DOUBLE)
    )


CONCAVE_MAP = {0: (1, 1.0), 1: (2, 2.0), 2: (3, 3.0), 3: (4, 5.0), 4: (4, 8.0), 5: (4, 16.0), 6: (7, 24.0)} | {
    7: (7, 50.0), 8: (9, 74.0), 9: (10, 124.0)
}  # fmt: skip
"""Deep-sea-treasure's concave map, of MO-Gymnasium: row and treasure of each column."""
LONGEST = 19
"""Steps to the farthest treasure."""


class Sea(NamedTuple):
    """Deep-sea-treasure as a table; returns are normalised to [0, 1] by the largest treasure and the longest way.

    Attributes:
        following: Next state of each state and action, ``[S, 4]``; S means that the episode is over.
        reward: Normalised treasure and time, ``[S, 4, 2]``; a share of the last is a constant of the episode.
    """

    following: Tensor
    reward: Tensor


def sea() -> Sea:
    """Return the map with its first state first."""
    deepest = {column: CONCAVE_MAP[column][0] - 1 if column in CONCAVE_MAP else 10 for column in range(11)}
    cells = [(row, column) for column in range(11) for row in range(deepest[column] + 1)]
    index = {cell: i for i, cell in enumerate(cells)}
    following = torch.empty(len(cells), 4, dtype=torch.int64)
    reward = torch.zeros(len(cells), 4, 2, dtype=DOUBLE)
    reward[..., 1] = -1 / (LONGEST - 1)
    for (row, column), i in index.items():
        for action, (down, right) in enumerate(((-1, 0), (1, 0), (0, -1), (0, 1))):
            cell = (row + down, column + right)
            goal = CONCAVE_MAP.get(cell[1])
            if goal is not None and cell[0] == goal[0]:
                following[i, action] = len(cells)
                reward[i, action, 0] = goal[1] / 124
            else:
                following[i, action] = index.get(cell, i)
    return Sea(following, reward)


def treasures() -> Tensor:
    """Return the normalised returns of the ten treasures on their shortest ways, ``[10, 2]``."""
    points = [(value / 124, (LONGEST - row - column) / (LONGEST - 1)) for column, (row, value) in CONCAVE_MAP.items()]
    return torch.tensor(points, dtype=DOUBLE)


def utility() -> SmoothTchebycheff:
    """Return what the user asks for."""
    return SmoothTchebycheff(torch.tensor(MU, dtype=DOUBLE), utopia=UTOPIA).double()


def preferences(count: int = 21) -> Tensor:
    """Return preferences evenly from one objective to the other, ``[count, 2]``."""
    first = torch.linspace(0, 1, count, dtype=DOUBLE)
    return torch.stack([first, 1 - first], -1)


def best_between(start: Tensor, end: Tensor, weights: Tensor, mu: float = MU, utopia: float = UTOPIA) -> Tensor:
    r"""Return the expected return of the best mixture of two policies under smooth Tchebycheff, ``[P, 2]``.

    With :math:`J(t) = a + t d` and :math:`d_1 > 0 > d_2`, :math:`\sum_i w_i \delta_i d_i = 0` gives

    .. math:: t = \frac{w_1(\zeta - a_1) - w_2(\zeta - a_2) - \mu\log\frac{-w_2 d_2}{w_1 d_1}}{w_1 d_1 - w_2 d_2}

    cut to [0, 1].

    Args:
        start: Expected return of the policy with the least of the first objective, a, ``[2]``.
        end: That of the one with the most of it, ``[2]``.
        weights: Preferences, ``[P, 2]``.
        mu: Smoothness.
        utopia: Ideal value, :math:`\zeta`.
    """
    (w1, w2), (d1, d2), (a1, a2) = weights.unbind(-1), (end - start).unbind(-1), start.unbind(-1)
    odds = (-w2 * d2).log() - (w1 * d1).log()
    t = (w1 * (utopia - a1) - w2 * (utopia - a2) - mu * odds) / (w1 * d1 - w2 * d2)
    return start + t.clamp(0, 1).unsqueeze(-1) * (end - start)


def best_single(arms: Arms, weights: Tensor) -> Tensor:
    """Return the expected return of the best policy for E[U(R)] (ESR), ``[P, 2]``: it is a single arm."""
    outcome = arms.outcome.expand(len(weights), *arms.outcome.shape)
    judged = utility()(outcome, weights[:, None, None, :].expand_as(outcome))
    return arms.mean[(judged * arms.chance).sum(-1).argmax(-1)]
