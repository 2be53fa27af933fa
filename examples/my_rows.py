"""Six custom blocks in one file, and a row for each: ``morl-blocks list my_rows.py`` shows them."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from morl_blocks.combiners import Combiner
from morl_blocks.critics import Critic
from morl_blocks.ppo import ObjectiveLoss, UnitBoxGaussianActor
from morl_blocks.scalarizers import Scalarizer
from morl_blocks.schedulers import Scheduler
from morl_recipes import PASTA, PPO
from morl_recipes.recipe.specs import AttentionWeighted, spec


class Nash(Scalarizer):
    """The weighted sum of logarithms (Nash welfare)."""

    def __init__(self, floor: float = 0.01) -> None:
        super().__init__()
        self.floor = floor

    def score(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the utility, ``[*B]``, of normalised returns ``[*B, m]``."""
        return (weights * values.clamp_min(self.floor).log()).sum(-1)


class Halving(Scheduler):
    """Halve the smoothness in every iteration without much conflict."""

    def __init__(self, start: float = 8.0, threshold: float = 0.5) -> None:
        super().__init__(start)
        self.threshold = threshold

    def advance(self, progress: Tensor, conflict: Tensor) -> Tensor:
        """Return the next smoothness, ``[R]``."""
        return torch.where(conflict < self.threshold, self.mu / 2, self.mu).clamp_min(0.05)


class Normalised(Combiner):
    """Give every objective's gradient the same length."""

    def combine(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> Tensor:
        """Return the weights of the gradients, ``[*R, m]``."""
        return gramian.diagonal(dim1=-2, dim2=-1).clamp_min(1e-12).rsqrt()


class Additive(Critic):
    """One linear layer over the trunk."""

    def add_output(self, hidden: int, activation: type[nn.Module]) -> nn.Module:
        """Add the layer from features to values."""
        self.values = nn.Linear(hidden, self.num_objectives)
        return self.values

    def forward(self, observation: Tensor, preference: Tensor) -> Tensor:
        """Return values, ``[*B, m]``."""
        values: Tensor = self.values(self.features(observation, preference))
        return values


class Calm(UnitBoxGaussianActor):
    """The paper's actor with less noise at the start."""

    def __init__(self, observation_dim: int, num_objectives: int, action_dim: int, log_std: float = -1.0) -> None:
        super().__init__(observation_dim, num_objectives, action_dim, hidden=32)
        nn.init.constant_(self.log_std, log_std)


class Penalised(ObjectiveLoss):
    """A penalty on the probability ratio in place of the clip."""

    def __init__(self, penalty: float = 1.0) -> None:
        super().__init__()
        self.penalty = penalty

    def forward(self, log_prob: Tensor, old_log_prob: Tensor, advantage: Tensor, clip: Tensor | float) -> Tensor:
        """Return one loss per objective, ``[m]``, for ``[B]``, ``[B]`` and ``[B, m]``."""
        ratio = (log_prob - old_log_prob).exp().unsqueeze(-1)
        return (self.penalty * (ratio - 1).square() - ratio * advantage).mean(-2)


QUICK = replace(PASTA, ppo=PPO(steps_per_iteration=256, epochs=2))
"""PASTA with short iterations, for quick tests; leave ``ppo`` out for a table."""

NashRow = replace(QUICK, scalarizer=spec(Nash)(), mu=None)
HalvingRow = replace(QUICK, mu=spec(Halving)())
NormalisedRow = replace(QUICK, combiner=spec(Normalised)())
AdditiveRow = replace(QUICK, critic=AttentionWeighted(spec(Additive)(hidden=32)))
CalmRow = replace(QUICK, actor=spec(Calm)())
PenalisedRow = replace(QUICK, loss=spec(Penalised)(penalty=2.0))

AllMine = replace(
    QUICK,
    scalarizer=NashRow.scalarizer,
    mu=None,
    combiner=NormalisedRow.combiner,
    critic=AdditiveRow.critic,
    actor=CalmRow.actor,
    loss=PenalisedRow.loss,
)

MINE = {"all mine": AllMine, "halving": HalvingRow}
"""A dictionary of recipes is a group: ``morl-blocks train my_rows.py:MINE``."""
