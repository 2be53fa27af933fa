"""The logarithm of the ratio to the first value."""

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.normalizers._base import Normalizer


def log_ratio(values: Tensor, first: Tensor) -> Tensor:
    r"""Return the logarithm of each objective's ratio to its first value: :math:`\bar f_i = \ln (f_i / f_i^{(1)})`.

    Args:
        values: Objective values > 0, ``[*B, m]``.
        first: First values > 0, broadcastable to ``[*B, m]``.

    Returns:
        Log ratios, ``[*B, m]``.

    Example:
        >>> log_ratio(torch.tensor([1.0, 1.0]), torch.tensor([1.0, 100.0]))
        tensor([ 0.0000, -4.6052])
    """
    values, first = _checks.alike(values=values, first=first)
    _checks.broadcastable("first", first, values.shape)
    _checks.positive("values", values)
    _checks.positive("first", first)
    return values.log() - first.log()


class LogRatio(Normalizer):
    r"""Take the logarithm of the ratio to the first value, :math:`\bar f_i = \ln (f_i / f_i^{(1)})`.

    It suits losses that fall by orders of magnitude, such as residuals of differential equations: from 1e-2 to 1e-4 is
    as much progress as from 1 to 1e-2. The gradient is that of the relative change, :math:`\nabla f_i / f_i`.

    Sense: losses stay losses and returns stay returns. Values start at 0 and fall without bound, so a scalarizer with
    ``sense="min"`` needs a ``utopia`` below the values that can be reached, such as -10 for a factor of
    :math:`e^{-10}`.

    Args:
        runs: Leading shape of independent runs.

    Shape: values ``[*R, *N, m]``, > 0; state ``first`` is ``[*R, m]``, the geometric mean of the first update.

    Example:
        >>> normalizer = LogRatio()
        >>> normalizer.update(torch.tensor([1.0, 1000.0]))
        >>> normalizer(torch.tensor([0.1, 100.0]))
        tensor([-2.3026, -2.3026])
    """

    first: Tensor

    def __init__(self, runs: tuple[int, ...] = ()) -> None:
        super().__init__(runs)
        self.register_buffer("first", torch.empty(0))

    def observe(self, rows: Tensor) -> None:
        """Store the geometric mean of the first update."""
        _checks.positive("values", rows)
        if not self.first.numel():
            self.first = rows.log().mean(-2).exp()

    def normalize(self, values: Tensor) -> Tensor:
        """Take the logarithm of the ratio."""
        return log_ratio(values, self.beside(self.first, values))
