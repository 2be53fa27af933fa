"""A smoothness that falls linearly during training."""

from torch import Tensor

from morl_blocks import _checks
from morl_blocks.schedulers._base import Scheduler, smooth


def linear_decay(progress: Tensor | float, start: Tensor | float, end: Tensor | float) -> Tensor:
    r"""Interpolate from ``start`` to ``end``: :math:`\mu_{base}(t) = start - (start - end) \min(1, t/T)`.

    Args:
        progress: :math:`t/T \ge 0`, a number or ``[R]``.
        start: Smoothness at progress 0.
        end: Smoothness from progress 1 on.

    Returns:
        Base smoothness, ``[]`` or ``[R]``.

    Example:
        >>> import torch
        >>> linear_decay(torch.tensor([0.0, 0.5, 2.0]), 10.0, 0.05)
        tensor([10.0000,  5.0250,  0.0500])
    """
    done = _checks.floats("progress", progress).clamp(0.0, 1.0)
    start, end = (_checks.like(name, value, done) for name, value in (("start", start), ("end", end)))
    _checks.per_run(progress=done, start=start, end=end)
    return (1 - done) * start + done * end  # exact at both ends, unlike start - (start - end) * done


class LinearDecay(Scheduler):
    r"""Fall linearly from ``start`` to ``end`` with training progress, optionally smoothed by an exponential average.

    The average lags: with smoothing 0.05 and :math:`N` iterations, each stepped with the progress before it, the last
    mu is :math:`end + (start - end)/N \cdot 20 (1 - 0.95^N)`, that is 0.458 after 488 iterations, not 0.05.

    Args:
        start: Smoothness at the beginning, a number or ``[R]``.
        end: Smoothness at the end, 0 < ``end`` <= ``start``.
        smoothing: Factor of the exponential average in (0, 1]; 1 means none.

    Example:
        >>> schedule = LinearDecay(start=10.0, end=0.05)
        >>> schedule.step(progress=0.5)
        tensor(5.0250)
        >>> lagging = LinearDecay(start=10.0, end=0.05, smoothing=0.05)
        >>> [lagging.step(progress=i / 488) for i in range(488)][-1]
        tensor(0.4578)
    """

    start: Tensor
    end: Tensor
    smoothing: Tensor

    def __init__(
        self, start: Tensor | float = 10.0, end: Tensor | float = 0.05, smoothing: Tensor | float = 1.0
    ) -> None:
        given = {"start": start, "end": end, "smoothing": smoothing}
        numbers = {name: _checks.number(name, value).clone() for name, value in given.items()}
        _checks.positive("start", numbers["start"])
        _checks.positive("end", numbers["end"])
        _checks.between("smoothing", numbers["smoothing"], 0.0, 1.0, bounds="(]")
        _checks.per_run(**numbers)
        super().__init__(numbers["start"])
        for name, value in numbers.items():
            self.register_buffer(name, value, persistent=False)
        if not _checks.is_traced(self.start) and bool((self.end > self.start).any()):
            _checks.fail("end", f"be <= start ({self.start.tolist()})", self.end.tolist())

    @property
    def lowest(self) -> Tensor:
        """The value at the end."""
        return self.end

    @property
    def highest(self) -> Tensor:
        """The value at the beginning."""
        return self.start

    def advance(self, progress: Tensor, conflict: Tensor) -> Tensor:
        """Return the linear decay, smoothed by the average."""
        return smooth(self.mu, linear_decay(progress, self.start, self.end), self.smoothing)
