"""Adam on stacked parameters: element-wise, so that runs stay independent; gradients are clipped per run."""

from typing import NamedTuple

import torch
from torch import Tensor

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


class AdamState(NamedTuple):
    """One network's parameters and its Adam moments, each ``[R, P]``; updated in place."""

    params: Tensor
    first: Tensor
    second: Tensor

    @classmethod
    def of(cls, flat: Tensor) -> "AdamState":
        """Initialise from parameters ``[R, P]``, with zero moments."""
        return cls(flat.clone(), torch.zeros_like(flat), torch.zeros_like(flat))

    def runs(self, part: slice) -> "AdamState":
        """Return views of some of the runs."""
        return AdamState(*(tensor[part] for tensor in self))


class StepSize(NamedTuple):
    """Factors of a step: minus the rate over the first bias correction, ``[*K, R, 1]``, and epsilon, ``[*K]``.

    Both are multiplied by the root of the second correction, which saves a division per parameter.
    """

    rate: Tensor
    epsilon: Tensor

    def steps(self, part: slice) -> "list[StepSize]":
        """Return the factors of each of K steps for some of the runs."""
        return list(map(StepSize, self.rate[:, part].unbind(0), self.epsilon.unbind(0)))


def step_sizes(learning_rate: Tensor, taken: int, count: int) -> StepSize:
    """Return the factors of the next ``count`` steps, after ``taken`` steps, for learning rates ``[R]``."""
    times = torch.arange(taken + 1, taken + count + 1, device=learning_rate.device, dtype=torch.float64)
    rates = learning_rate.double() / (1 - BETA_1**times).unsqueeze(-1)
    dtype = learning_rate.dtype
    corrections = (1 - BETA_2**times).sqrt().to(dtype)
    rates = rates.to(dtype) * -corrections.unsqueeze(-1)
    return StepSize(rates.unsqueeze(-1), EPSILON * corrections)


def adam(network: AdamState, gradient: Tensor, limit: Tensor, size: StepSize) -> Tensor:
    """Clip each run's gradient ``[R, P]`` and take one Adam step in place; return the norms before, ``[R]``."""
    norm: Tensor = torch.linalg.vector_norm(gradient, dim=-1)
    gradient = gradient * (limit / (norm + 1e-6)).clamp(max=1.0).unsqueeze(-1)
    network.first.lerp_(gradient, 1 - BETA_1)
    network.second.mul_(BETA_2).addcmul_(gradient, gradient, value=1 - BETA_2)
    network.params.addcdiv_(network.first * size.rate, network.second.sqrt().add_(size.epsilon))
    return norm
