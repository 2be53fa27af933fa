"""Actors and an activation of a user's own."""

import torch
from torch import Tensor, nn

from morl_blocks.ppo import UnitBoxGaussianActor
from morl_recipes.recipe.spec import spec


class Sine(nn.Module):
    """An activation of a user's own."""

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs.sin()


class Own(UnitBoxGaussianActor):
    """An actor of a user's own: its parameters are called like bounds and statistics, and it has another tensor."""

    def __init__(self, observation_dim: int, num_objectives: int, action_dim: int) -> None:
        super().__init__(observation_dim, num_objectives, action_dim, hidden=8, activation=nn.ReLU)
        self.action_gain = nn.Parameter(torch.ones(action_dim))
        self.observation_gain = nn.Parameter(torch.ones(observation_dim))
        self.shift = torch.full((observation_dim,), 0.3)

    def forward(self, observation: Tensor, preference: Tensor) -> tuple[Tensor, Tensor]:
        mean, log_std = super().forward(observation * self.observation_gain + self.shift, preference)
        return mean * self.action_gain, log_std


class Silent(Own):
    """One that does not tell the size of its observations."""

    def __init__(self, observation_dim: int, num_objectives: int, action_dim: int) -> None:
        super().__init__(observation_dim, num_objectives, action_dim)
        self.size = observation_dim
        del self.observation_dim

    def forward(self, observation: Tensor, preference: Tensor) -> tuple[Tensor, Tensor]:
        mean, log_std = self.mean(self.trunk(torch.cat([observation, preference], -1))).sigmoid(), self.log_std
        return mean, log_std.expand_as(mean)


OWN, SILENT = spec(Own)(), spec(Silent)()
