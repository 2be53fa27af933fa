"""Division by the initial values of the objectives."""

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.normalizers._base import Normalizer


def relative(values: Tensor, scale: Tensor) -> Tensor:
    r"""Divide each objective by the absolute value of its scale: :math:`\bar f_i = f_i / |s_i|`. The sense stays.

    Args:
        values: Objective values, ``[*B, m]``.
        scale: Reference values, not 0, broadcastable to ``[*B, m]``.

    Returns:
        Relative values, ``[*B, m]``.

    Example:
        >>> relative(torch.tensor([1.0, -30.0]), torch.tensor([2.0, -10.0]))
        tensor([ 0.5000, -3.0000])
    """
    values, scale = _checks.alike(values=values, scale=scale)
    _checks.broadcastable("scale", scale, values.shape)
    if not _checks.is_traced(scale) and bool((scale == 0).any()):
        _checks.fail("scale", "differ from 0", 0.0)
    return values / scale.abs()


class WarmUp(Normalizer):
    r"""Divide by the mean absolute value of the first k updates.

    .. math:: \bar f_i = f_i \Big/ \frac1k \sum_{t \le k} |f_i^{(t)}|

    Sense: losses stay losses and returns stay returns. An ideal value of 0 stays 0, and losses start near 1, so
    ``utopia=0.0`` suits a scalarizer with ``sense="min"``. Before k updates, the mean of the updates so far is used.

    Args:
        count: Number of updates k that are averaged, >= 1; later ones change nothing.
        runs: Leading shape of independent runs.

    Shape: values ``[*R, *N, m]``; state ``scale`` is ``[*R, m]``.

    Example:
        >>> normalizer = WarmUp(count=2)
        >>> for losses in ([1.0, 200.0], [3.0, 400.0], [7.0, 7.0]):
        ...     normalizer.update(torch.tensor(losses))
        >>> normalizer(torch.tensor([1.0, 150.0]))
        tensor([0.5000, 0.5000])
    """

    scale: Tensor

    def __init__(self, count: int = 10, runs: tuple[int, ...] = ()) -> None:
        super().__init__(runs)
        _checks.at_least("count", count, 1)
        self.count = int(count)
        self.register_buffer("scale", torch.empty(0))

    def observe(self, rows: Tensor) -> None:
        """Average the absolute values of the first updates."""
        size = rows.abs().mean(-2)
        if not self.scale.numel():
            if not _checks.is_traced(size) and bool((size == 0).any()):
                _checks.fail("values", "differ from 0 at the first update, for every objective", size.tolist())
            self.scale = size
            return
        seen = self.updates.to(self.scale.device)
        self.scale = torch.where(seen < self.count, self.scale + (size - self.scale) / (seen + 1), self.scale)

    def normalize(self, values: Tensor) -> Tensor:
        """Divide by the mean size."""
        return relative(values, self.beside(self.scale, values))

    def extra_repr(self) -> str:
        """Show the count in ``repr``."""
        return ", ".join(filter(None, (f"count={self.count}", super().extra_repr())))


class InitialValue(WarmUp):
    r"""Divide by the values of the first update: :math:`\bar f_i = f_i / |f_i^{(1)}|`.

    Sense: losses stay losses and returns stay returns. A loss starts at 1 and its ideal 0 stays 0, so ``utopia=0.0``
    suits a scalarizer with ``sense="min"``. The first update should cover more than one small minibatch; otherwise use
    :class:`WarmUp`.

    Args:
        runs: Leading shape of independent runs.

    Shape: values ``[*R, *N, m]``; state ``scale`` is ``[*R, m]``.

    Example:
        >>> normalizer = InitialValue()
        >>> normalizer.update(torch.tensor([2.0, 1000.0]))
        >>> normalizer(torch.tensor([1.0, 100.0]))
        tensor([0.5000, 0.1000])
    """

    def __init__(self, runs: tuple[int, ...] = ()) -> None:
        super().__init__(1, runs)
