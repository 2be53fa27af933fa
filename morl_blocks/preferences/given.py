"""One preference for the whole training: nothing is drawn."""

from torch import Generator, Tensor

from morl_blocks.preferences._base import PreferenceSampler


class Given(PreferenceSampler):
    """Keep the preference that the run was given.

    Example:
        >>> Given().redraws
        False
    """

    redraws = False

    def draw(self, count: int, num_objectives: int, generator: Generator) -> Tensor:
        """Refuse: the preference is not this block's to choose."""
        raise ValueError("`preferences` must be a sampler such as Uniform() to draw from, got Given().")
