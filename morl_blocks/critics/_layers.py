"""Layers of the critics: a plain trunk and a bank of heads that run as one batched product."""

import itertools
import math

import torch
from torch import Tensor, nn


def mlp(sizes: list[int], activation: type[nn.Module]) -> nn.Sequential:
    """Stack ``Linear`` + activation for each pair of neighbouring sizes."""
    layers: list[nn.Module] = []
    for size_in, size_out in itertools.pairwise(sizes):
        layers += [nn.Linear(size_in, size_out), activation()]
    return nn.Sequential(*layers)


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
        if features.shape[-2] == 1:  # the same features for every layer: one wide product
            flat = self.weight.flatten(0, 1)
            wide: Tensor = (features.squeeze(-2) @ flat.mT).unflatten(-1, self.bias.shape)
            return wide + self.bias
        return (self.weight @ features.unsqueeze(-1)).squeeze(-1) + self.bias
