"""Layers on ``[observation, preference]`` that actors and critics share, and their initialisation."""

import itertools
import math
from collections.abc import Iterable
from typing import Literal

import torch
from torch import Tensor, nn

from morl_blocks import _checks

Initialisation = Literal["default", "orthogonal"]


def mlp(sizes: list[int], activation: type[nn.Module]) -> nn.Sequential:
    """Stack ``Linear`` + activation for each pair of neighbouring sizes."""
    layers: list[nn.Module] = []
    for size_in, size_out in itertools.pairwise(sizes):
        layers += [nn.Linear(size_in, size_out), activation()]
    return nn.Sequential(*layers)


def trunk(
    observation_dim: int, num_objectives: int, hidden: int, depth: int, activation: type[nn.Module]
) -> nn.Sequential:
    """Build the hidden layers on ``[observation, preference]`` that every network of this package starts with."""
    sizes = {"observation_dim": observation_dim, "num_objectives": num_objectives, "hidden": hidden, "depth": depth}
    for name, size in sizes.items():
        _checks.at_least(name, size, 1)
    _checks.activation("activation", activation)
    return mlp([observation_dim + num_objectives, *[hidden] * depth], activation)


def join(
    observation: Tensor, preference: Tensor, observation_dim: int, num_objectives: int, network: nn.Sequential
) -> Tensor:
    """Concatenate the inputs, ``[*B, n + m]``, in the network's dtype; a preference ``[m]`` is repeated over the batch.

    Example:
        >>> join(torch.zeros(5, 4), torch.tensor([0.5, 0.5]), 4, 2, mlp([6, 8], nn.Tanh)).shape
        torch.Size([5, 6])
    """
    weight: Tensor = network[0].weight  # type: ignore[assignment]  # the first layer is linear
    observation = _checks.like("observation", observation, weight)
    preference = _checks.like("preference", preference, weight)
    _checks.features("observation", observation, observation_dim)
    _checks.objectives("preference", preference, num_objectives, minimum=1)
    shape = torch.Size([*observation.shape[:-1], num_objectives])
    _checks.aligned("preference", preference, shape)
    _checks.moderate("observation", observation)
    _checks.moderate("preference", preference)
    return torch.cat([observation, preference.expand(shape)], -1)


class LinearBank(nn.Module):
    """``m`` independent linear layers side by side, initialised like ``nn.Linear``.

    Args:
        count: Number of layers m.
        size_in: Features in.
        size_out: Features out.

    Example:
        >>> LinearBank(3, 64, 1)(torch.zeros(5, 3, 64)).shape
        torch.Size([5, 3, 1])
    """

    def __init__(self, count: int, size_in: int, size_out: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(size_in)
        self.weight = nn.Parameter(torch.empty(count, size_out, size_in).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(count, size_out).uniform_(-bound, bound))

    def forward(self, features: Tensor) -> Tensor:
        """Apply layer i to row i: ``[*B, m, size_in]``, or ``[*B, 1, size_in]`` for all, to ``[*B, m, size_out]``."""
        if features.shape[-2] == 1:  # all layers have the same input: one wide product
            flat = self.weight.flatten(0, 1)
            wide: Tensor = (features.squeeze(-2) @ flat.mT).unflatten(-1, self.bias.shape)
            return wide + self.bias
        return (self.weight @ features.unsqueeze(-1)).squeeze(-1) + self.bias


@torch.no_grad()
def initialise(network: nn.Module, init: Initialisation, outputs: Iterable[nn.Module], gain: float) -> None:
    r"""Initialise a network's linear layers in place.

    ``"default"`` keeps PyTorch's own initialisation. ``"orthogonal"`` gives hidden layers orthogonal weights with gain
    :math:`\sqrt 2`, output layers with ``gain``, and zero biases, as is common in PPO implementations.

    Args:
        network: The network.
        init: Name of the initialisation.
        outputs: Its output layers.
        gain: Gain of the output layers.
    """
    _checks.choice("init", init, ("default", "orthogonal"))
    if init == "default":
        return
    last = set(outputs)
    for layer in network.modules():
        if isinstance(layer, nn.Linear | LinearBank):
            for matrix in layer.weight.reshape(-1, *layer.weight.shape[-2:]):
                nn.init.orthogonal_(matrix, gain if layer in last else math.sqrt(2))
            nn.init.zeros_(layer.bias)
