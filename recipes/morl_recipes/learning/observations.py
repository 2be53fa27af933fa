"""Running mean and variance of each run's observations."""

import torch
from torch import Tensor

LIMIT, FLOOR = 10.0, 1e-8
STATISTICS = ("observation_mean", "observation_variance")
"""Names of the statistics among the tensors of a policy."""


class ObservationScale:
    """Centre and scale observations by running statistics, which change between iterations, never within one."""

    def __init__(self, runs: int, observation_dim: int, device: torch.device | str = "cpu") -> None:
        self.mean = torch.zeros(runs, observation_dim, device=device)
        self.variance = torch.ones(runs, observation_dim, device=device)
        self.count = torch.zeros(runs, 1, device=device)

    def update(self, observation: Tensor) -> None:
        """Merge the mean and variance of new observations ``[R, ..., n]`` into the running ones."""
        rows = observation.flatten(1, -2)
        new_mean, new_variance, new = rows.mean(1), rows.var(1, correction=0), rows.shape[1]
        total = self.count + new
        shift = new_mean - self.mean
        spread = self.variance * self.count + new_variance * new + shift.square() * (self.count * new / total)
        self.mean, self.variance, self.count = self.mean + shift * (new / total), spread / total, total

    def apply(self, observation: Tensor) -> Tensor:
        """Return scaled observations, ``[R, ..., n]``."""
        shape = (len(self.mean), *[1] * (observation.dim() - 2), -1)
        return scaled(observation, self.mean.reshape(shape), self.variance.reshape(shape))


def scaled(observation: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
    """Centre, scale and clip to ±10; constant observations give 0, because their variance is only rounding noise."""
    return ((observation - mean) * (variance + FLOOR).rsqrt()).clamp(-LIMIT, LIMIT)
