"""One fixed preference for the whole training."""

from torch import Generator, Tensor

from morl_blocks.preferences._base import PreferenceSampler


class Given(PreferenceSampler):
    """Keep the preference of the run.

    Example:
        >>> Given().redraws
        False
    """

    redraws = False

    def draw(self, count: int, num_objectives: int, generator: Generator) -> Tensor:
        """Raise: the run sets the preference, so there is nothing to draw."""
        raise ValueError("`preferences` must be a sampler such as Uniform() to draw from, got Given().")
