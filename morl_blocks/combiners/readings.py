"""Readings of the paper's PCGrad that differ from its text, as its reference code does.

``pairing="position"``: a gradient skips the entry at its own position in the shuffled list instead of itself, so it may
be compared with itself and miss another one. ``conflict="projected"``: the conflict ratio counts the inner products
during the projection, on partly projected gradients, instead of the pairs before any projection.
"""

from typing import Literal

import torch
from torch import Tensor

from morl_blocks import _checks

Pairing = Literal["index", "position"]
ConflictKind = Literal["pairs", "projected"]


def check_readings(pairing: Pairing, conflict: ConflictKind) -> tuple[Pairing, ConflictKind]:
    """Check the options and return them."""
    _checks.choice("pairing", pairing, ("index", "position"))
    _checks.choice("conflict", conflict, ("pairs", "projected"))
    return pairing, conflict


def left_out(order: Tensor, pairing: Pairing) -> Tensor:
    """Mark the entries of an order ``[*R, m, m]`` that are skipped: in row i the entry i, or the one at position i."""
    _checks.choice("pairing", pairing, ("index", "position"))
    number = torch.arange(order.shape[-1], device=order.device)
    place = order if pairing == "index" else number.expand_as(order)
    return place == number.unsqueeze(-1)


def negative_share(inner: Tensor, pairing: Pairing) -> Tensor:
    """Return the share of negative values among the inner products that are compared, ``[*R, m, m]`` to ``[*R]``."""
    m, negative = inner.shape[-1], inner < 0
    if pairing == "position":  # skipped entries are not compared
        negative = negative & ~torch.eye(m, dtype=torch.bool, device=inner.device)
    counted = torch.where(inner.isnan(), inner, negative.to(inner.dtype))
    return counted.sum((-2, -1)) / max(m * m if pairing == "index" else m * (m - 1), 1)


def projected_conflict(gramian: Tensor, order: Tensor, pairing: Pairing = "index") -> Tensor:
    r"""Return the share of negative inner products among all that PCGrad computes, each at its own step.

    It counts ordered pairs, including a gradient with itself, on gradients that are already partly projected. This is
    another reading of the paper's :math:`\kappa` than :func:`conflict_ratio`, the share of unordered pairs. On random
    gradients it is near :math:`(m-1)/(2m)`, not 1/2.

    Args:
        gramian: Inner products of the gradients, ``[*R, m, m]``.
        order: Row i holds a permutation of 0..m-1, ``[*R, m, m]``.
        pairing: ``"index"`` or ``"position"``; with the latter a gradient has m - 1 comparisons, possibly with itself.

    Returns:
        Conflict ratio in [0, 1], ``[*R]``.

    Example:
        >>> jacobian = torch.tensor([[1.0, 0.0], [-1.0, 1.0]])
        >>> projected_conflict(jacobian @ jacobian.T, torch.tensor([[0, 1], [0, 1]]))
        tensor(0.5000)
    """
    from morl_blocks.combiners.pcgrad import project

    return negative_share(project(gramian, order, pairing)[1], pairing)
