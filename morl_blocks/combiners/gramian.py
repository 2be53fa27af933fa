"""Inner products of gradients that neither overflow nor underflow."""

from collections.abc import Callable

import torch
from torch import Tensor

from morl_blocks import _checks

SMALL, LARGE = 1e-24, 1e24


def gramian_of(jacobian: Tensor, *more: Tensor) -> Tensor:
    r"""Return :math:`J J^\top`, computed in float64 where squares would exceed the range of single precision.

    A gradient of 1e-20 has a squared length of 1e-40, which float32 cannot represent accurately. Ordinary gradients
    stay in float32; half precision is widened to it.

    Args:
        jacobian: One gradient per objective, ``[*R, m, P]``.
        more: Further columns of the Jacobian, so that separate gradients need not be concatenated.

    Returns:
        Gramian in float32 or float64, ``[*R, m, m]``.

    Example:
        >>> gramian_of(torch.tensor([[1e-20, 0.0], [0.0, 1.0]])).diagonal()
        tensor([1.0000e-40, 1.0000e+00], dtype=torch.float64)
    """
    blocks = (jacobian, *more)
    gramian = _added(blocks, _checks.working)
    if _checks.is_traced(gramian) or gramian.dtype == torch.float64:
        return gramian
    lengths = gramian.detach().diagonal(dim1=-2, dim2=-1)
    if bool(((lengths > SMALL) & (lengths < LARGE)).all()):
        return gramian
    return _added(blocks, _checks.wide)


def _added(blocks: tuple[Tensor, ...], widen: Callable[[Tensor], Tensor]) -> Tensor:
    """Sum the Gramians of the blocks."""
    first, *others = (wide @ wide.mT for wide in map(widen, blocks))
    for gramian in others:
        first = first + gramian
    return first
