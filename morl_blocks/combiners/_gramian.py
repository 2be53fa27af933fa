"""Inner products of gradients that neither overflow nor vanish."""

import torch
from torch import Tensor

from morl_blocks import _checks

SMALL, LARGE = 1e-24, 1e24


def gramian_of(jacobian: Tensor) -> Tensor:
    r"""Return :math:`J J^\top`, computed in float64 where squares would leave the range of single precision.

    A gradient of 1e-20 has a squared length of 1e-40, which float32 cannot hold with any digits. Ordinary gradients
    stay in float32; half precision is widened to it.

    Args:
        jacobian: One gradient per objective, ``[*R, m, P]``.

    Returns:
        Gramian in float32 or float64, ``[*R, m, m]``.

    Example:
        >>> gramian_of(torch.tensor([[1e-20, 0.0], [0.0, 1.0]])).diagonal()
        tensor([1.0000e-40, 1.0000e+00], dtype=torch.float64)
    """
    wide = _checks.working(jacobian)
    gramian = wide @ wide.mT
    if _checks.is_traced(gramian) or gramian.dtype == torch.float64:
        return gramian
    lengths = gramian.detach().diagonal(dim1=-2, dim2=-1)
    if bool(((lengths > SMALL) & (lengths < LARGE)).all()):
        return gramian
    double = _checks.wide(jacobian)
    return double @ double.mT
