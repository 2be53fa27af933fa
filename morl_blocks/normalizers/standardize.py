"""Standardisation by the mean and the standard deviation of all values so far."""

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.normalizers._base import Normalizer, spread_or_size


def standardized(values: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    r"""Subtract the mean and divide by the deviation: :math:`\bar f_i = (f_i - \mu_i) / \sigma_i`.

    If the deviation is 0, the size of the mean is used instead.

    Args:
        values: Objective values, ``[*B, m]``.
        mean: Means, broadcastable to ``[*B, m]``.
        deviation: Standard deviations, broadcastable to ``[*B, m]``.

    Returns:
        Standardised values, ``[*B, m]``.

    Example:
        >>> standardized(torch.tensor([3.0, 8.0]), torch.tensor([1.0, 4.0]), torch.tensor([2.0, 0.0]))
        tensor([1., 1.])
    """
    values, mean, deviation = _checks.alike(values=values, mean=mean, deviation=deviation)
    _checks.broadcastable("mean", mean, values.shape)
    _checks.broadcastable("deviation", deviation, values.shape)
    return (values - mean) / spread_or_size(deviation, mean.abs())


class Standardize(Normalizer):
    r"""Standardise by the running mean and population deviation of all samples seen so far.

    .. math:: \bar f_i = \frac{f_i - \mu_i}{\sigma_i}

    Sense: losses stay losses and returns stay returns. Values have mean 0 and deviation 1, so an ideal value is a few
    deviations away: give the scalarizer a ``utopia`` such as 3 (``"max"``) or -3 (``"min"``). Use it for noisy values
    without a natural zero, such as rewards of a language model.

    Args:
        runs: Leading shape of independent runs.

    Shape: values ``[*R, *N, m]``; states ``mean`` and ``squares`` (summed squared deviations) are ``[*R, m]``, and
    ``count`` is ``[*R, 1]``.

    Example:
        >>> normalizer = Standardize()
        >>> normalizer.update(torch.tensor([[1.0, 10.0], [3.0, 30.0]]))
        >>> normalizer(torch.tensor([4.0, 20.0]))
        tensor([2., 0.])
    """

    mean: Tensor
    squares: Tensor
    count: Tensor

    def __init__(self, runs: tuple[int, ...] = ()) -> None:
        super().__init__(runs)
        for name in ("mean", "squares", "count"):
            self.register_buffer(name, torch.empty(0))

    def observe(self, rows: Tensor) -> None:
        """Merge the moments of the samples into those so far; this keeps its precision for a large mean."""
        new, mean = rows.shape[-2], rows.mean(-2)
        squares = (rows - mean.unsqueeze(-2)).square().sum(-2)
        if not self.mean.numel():
            self.mean, self.squares, self.count = mean, squares, torch.full_like(mean[..., :1], new)
            return
        total, shift = self.count + new, mean - self.mean
        self.squares = self.squares + squares + shift.square() * self.count * new / total
        self.mean = self.mean + shift * new / total
        self.count = total

    def normalize(self, values: Tensor) -> Tensor:
        """Standardise by the moments so far."""
        deviation = (self.squares / self.count).sqrt()
        return standardized(values, self.beside(self.mean, values), self.beside(deviation, values))
