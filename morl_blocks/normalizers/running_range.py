"""Map each objective to [0, 1] by the smallest and largest value so far."""

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.normalizers._base import Normalizer, spread_or_size


def ranged(values: Tensor, low: Tensor, high: Tensor) -> Tensor:
    r"""Map each objective's range to [0, 1]: :math:`\bar f_i = (f_i - l_i) / (h_i - l_i)`.

    Values outside the range are not clipped. If the range is empty, its distance from 0 is used instead.

    Args:
        values: Objective values, ``[*B, m]``.
        low: Lower ends, broadcastable to ``[*B, m]``.
        high: Upper ends, broadcastable to ``[*B, m]``.

    Returns:
        Values, ``[*B, m]``; 0 at the lower end and 1 at the upper.

    Example:
        >>> ranged(torch.tensor([0.0, 5.0, 6.0]), torch.tensor([-1.0, 5.0, 5.0]), torch.tensor([1.0, 5.0, 10.0]))
        tensor([0.5000, 0.0000, 0.2000])
    """
    values, low, high = _checks.alike(values=values, low=low, high=high)
    _checks.broadcastable("low", low, values.shape)
    _checks.broadcastable("high", high, values.shape)
    return (values - low) / spread_or_size(high - low, torch.maximum(low.abs(), high.abs()))


class RunningRange(Normalizer):
    r"""Map the range of everything seen so far to [0, 1].

    .. math:: \bar f_i = \frac{f_i - l_i}{h_i - l_i}

    Sense: losses stay losses and returns stay returns; the scalarizers' default utopia (1.05 for ``"max"``, -0.05 for
    ``"min"``) suits it. Use it for returns and for values that go up and down. A loss that only falls is always at its
    lower end and so always looks perfect: use :class:`InitialValue` for it.

    Args:
        runs: Leading shape of independent runs.

    Shape: values ``[*R, *N, m]``; states ``low`` and ``high`` are ``[*R, m]``.

    Example:
        >>> normalizer = RunningRange()
        >>> normalizer.update(torch.tensor([[0.0, -5.0], [2.0, 5.0]]))
        >>> normalizer(torch.tensor([0.5, 10.0]))
        tensor([0.2500, 1.5000])
    """

    low: Tensor
    high: Tensor

    def __init__(self, runs: tuple[int, ...] = ()) -> None:
        super().__init__(runs)
        self.register_buffer("low", torch.empty(0))
        self.register_buffer("high", torch.empty(0))

    def observe(self, rows: Tensor) -> None:
        """Widen the range."""
        low, high = rows.amin(-2), rows.amax(-2)
        first = not self.low.numel()
        self.low = low if first else torch.minimum(self.low, low)
        self.high = high if first else torch.maximum(self.high, high)

    def normalize(self, values: Tensor) -> Tensor:
        """Map the range to [0, 1]."""
        return ranged(values, self.beside(self.low, values), self.beside(self.high, values))
