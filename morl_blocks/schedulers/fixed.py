"""A smoothness that never changes."""

from torch import Tensor

from morl_blocks.schedulers._base import Scheduler


class Fixed(Scheduler):
    """Keep mu constant.

    Args:
        mu: Smoothness, > 0: a number, or ``[R]``, one per run.

    Example:
        >>> Fixed(1.0).step(progress=0.5, conflict=1.0)
        tensor(1.)
    """

    def __init__(self, mu: Tensor | float = 1.0) -> None:
        super().__init__(mu)

    @property
    def lowest(self) -> Tensor:
        """The constant."""
        return self.mu

    highest = lowest

    def advance(self, progress: Tensor, conflict: Tensor) -> Tensor:
        """Keep the constant."""
        return self.mu
