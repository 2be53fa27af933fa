"""A stored policy as an ordinary module that maps observation and preference to the action of the environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import torch
from torch import Tensor, nn

from morl_blocks.ppo import Actor, unit_box_to_action
from morl_envs.protocol import TensorEnv
from morl_recipes.learning.observations import STATISTICS, scaled
from morl_recipes.recipe.policy_network import Network

Point = Literal["peak", "final"]
BOUNDS = ("action_low", "action_high")


class SavedPolicy(nn.Module):
    """The most likely action of a trained policy.

    Args:
        tensors: Parameters of the actor by name, with ``observation_mean`` and ``observation_variance`` if its
            observations are scaled.
        num_objectives: Number of objectives, m.
        low: Lowest action, ``[a]``; ``None`` for discrete actions.
        high: Highest action, ``[a]``.
        actor: The network, if it is not the paper's; its parameters are replaced.

    Example:
        >>> from morl_blocks.ppo import UnitBoxGaussianActor
        >>> actor = UnitBoxGaussianActor(observation_dim=4, num_objectives=2, action_dim=1)
        >>> policy = SavedPolicy(actor.state_dict(), 2, torch.tensor([-1.0]), torch.tensor([1.0]))
        >>> policy(torch.zeros(5, 4), torch.tensor([[0.5, 0.5]])).shape
        torch.Size([5, 1])
    """

    low: Tensor
    high: Tensor
    mean: Tensor | None
    variance: Tensor

    def __init__(
        self,
        tensors: Mapping[str, Tensor],
        num_objectives: int,
        low: Tensor | None,
        high: Tensor | None,
        actor: Actor | None = None,
    ) -> None:
        super().__init__()
        parameters = {name: tensor for name, tensor in tensors.items() if name not in STATISTICS}
        self.num_objectives = num_objectives
        self.actor = Network.of_shapes(parameters, num_objectives).build(num_objectives) if actor is None else actor
        self.observation_dim: int = getattr(self.actor, "observation_dim", 0)  # 0 if the actor does not define it
        kinds = {name: tensor.dtype for name, tensor in self.actor.state_dict().items()}
        given = {name: tensor.to(kinds.get(name, tensor.dtype)).clone() for name, tensor in parameters.items()}
        self.actor.load_state_dict(given, assign=True)
        self.register_buffer("low", low)
        self.register_buffer("high", high)
        self.register_buffer("mean", tensors.get("observation_mean"))
        self.register_buffer("variance", tensors.get("observation_variance"))

    def forward(self, observation: Tensor, preference: Tensor) -> Tensor:
        """Return actions ``[N, a]`` (``[N]`` indices when discrete) for ``[N, n]`` and ``[N, m]`` or ``[1, m]``."""
        if self.mean is not None:
            observation = scaled(observation, self.mean, self.variance)
        preference = preference.expand(observation.shape[0], self.num_objectives)
        action = self.actor.mode(self.actor(observation, preference))
        return action if self.low is None else unit_box_to_action(action, self.low, self.high)


def acting(policy: SavedPolicy, preference: tuple[float, ...]) -> Callable[[Tensor], Tensor]:
    """Return the policy for one preference, as a function from observations ``[N, n]`` to actions."""
    weights = torch.tensor([preference], dtype=torch.float32)

    @torch.no_grad()
    def act(observation: Tensor) -> Tensor:
        action: Tensor = policy(observation, weights)
        return action

    return act


def bounds_of(env: TensorEnv) -> dict[str, Tensor]:
    """Return the action bounds of an environment as tensors by name; none for discrete actions."""
    low, high = env.action_low, env.action_high
    if low is None or high is None:
        return {}
    return dict(zip(BOUNDS, (low.cpu().clone(), high.cpu().clone()), strict=True))


def make_policy(tensors: Mapping[str, Tensor], num_objectives: int, network: Network) -> SavedPolicy:
    """Return a policy as a module, from its tensors with its action bounds if it has any."""
    own = {name: tensor for name, tensor in tensors.items() if name not in BOUNDS}
    low, high = (tensors.get(name) for name in BOUNDS)
    module = SavedPolicy(own, num_objectives, low, high, network.build(num_objectives))
    module.observation_dim = network.observation_dim  # a custom actor need not define it
    return module.eval().requires_grad_(requires_grad=False)
