"""The latest observations at which episodes began, for expected returns."""

import torch
from torch import Tensor

COUNT = 32


class InitialStates:
    """Keep the last observations at which the episodes of each run began.

    Args:
        first: Observations of the first episodes, ``[R, E, n]``; repeated until there are others.
        count: How many to keep per run, K.

    Example:
        >>> states = InitialStates(torch.zeros(1, 2, 1), count=3)
        >>> begun = torch.tensor([True, False, True, True]).reshape(1, 1, 4, 1)
        >>> states.keep(torch.arange(1.0, 5.0).reshape(1, 1, 4, 1), begun)
        >>> states.observation.flatten().tolist()
        [1.0, 3.0, 4.0]
    """

    def __init__(self, first: Tensor, count: int = COUNT) -> None:
        self.observation = first[:, torch.arange(count, device=first.device) % first.shape[1]].clone()

    def keep(self, observation: Tensor, begun: Tensor) -> None:
        """Take in the observations of a rollout ``[R, E, T, n]`` at which an episode begins, ``[R, E, T, 1]``."""
        count = self.observation.shape[1]
        # Oldest first: time outermost.
        rows = zip(observation.transpose(1, 2), begun.squeeze(-1).transpose(1, 2), self.observation, strict=True)
        self.observation = torch.stack([torch.cat([old, new[start]])[-count:] for new, start, old in rows])
