"""Backward passes of several losses: all gradients at once, or two at a time."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from morl_blocks import _checks

LARGE = 2**14
"""Gradients with at least this many numbers are multiplied without a copy; smaller ones are concatenated first."""
CHUNK = 2**14

Gradients = Sequence[Tensor | None]


class Block(NamedTuple):
    """Gradients of some parameters as one matrix: ``rows`` is ``[m, p]``, in the order of ``params``."""

    params: list[Tensor]
    rows: Tensor


def gradients_at_once(losses: Tensor, params: list[Tensor]) -> list[Tensor | None]:
    """Return d losses / d param as ``[m, *param.shape]`` per parameter; ``None`` where no loss uses it."""
    eye = torch.eye(len(losses), dtype=losses.dtype, device=losses.device)
    gradients: list[Tensor | None]
    try:
        gradients = list(
            torch.autograd.grad(losses, params, eye, retain_graph=True, is_grads_batched=True, allow_unused=True)
        )
    except RuntimeError:  # vmap has no batching rule for some module; other errors are raised again below
        rows = [gradients_of(losses, row, params) for row in eye]
        gradients = [None if column[0] is None else torch.stack(column) for column in zip(*rows, strict=True)]
    require_used(params, gradients)
    return gradients


def gradients_of(losses: Tensor, weights: Tensor, params: list[Tensor]) -> tuple[Tensor | None, ...]:
    """Return the gradient of the weighted sum of the losses, one tensor per parameter; the graph is kept."""
    gradients: tuple[Tensor | None, ...] = torch.autograd.grad(
        losses, params, weights.to(losses), retain_graph=True, allow_unused=True
    )
    return gradients


def require_used(params: list[Tensor], gradients: Iterable[Tensor | None]) -> None:
    """Raise if no loss depends on any of the parameters."""
    if all(gradient is None for gradient in gradients):
        _checks.fail("params", "hold a parameter that a loss depends on", f"{len(params)} parameters that no loss uses")


def as_blocks(params: list[Tensor], gradients: Gradients) -> list[Block]:
    """Return the gradients as matrices: one per large parameter, without a copy, and one for all small parameters."""
    pairs = [(p, g.reshape(len(g), -1)) for p, g in zip(params, gradients, strict=True) if g is not None]
    blocks = [Block([param], rows) for param, rows in pairs if rows.shape[-1] >= LARGE]
    small = [pair for pair in pairs if pair[1].shape[-1] < LARGE]
    for dtype in dict.fromkeys(rows.dtype for _, rows in small):
        alike = [(param, rows) for param, rows in small if rows.dtype is dtype]
        blocks.append(Block([param for param, _ in alike], torch.cat([rows for _, rows in alike], -1)))
    return blocks


def gramian_by_pairs(losses: Tensor, params: list[Tensor]) -> Tensor:
    """Return the Gramian of the gradients, ``[m, m]``, with at most two gradients in memory.

    One gradient is kept while the others are computed one by one; the last of them is kept next. This takes 1 + m (m -
    1) / 2 passes.
    """
    m = len(losses)
    eye = torch.eye(m, dtype=losses.dtype, device=losses.device)
    gramian = torch.zeros_like(_checks.wide(eye))
    others, current = list(range(m)), 0
    held = gradients_of(losses, eye[0], params)
    while others:
        others.remove(current)
        gramian[current, current] = inner(held, held)
        row, passing = current, held
        for current in others:
            passing = ()  # free the previous gradient before the next one is computed
            passing = gradients_of(losses, eye[current], params)
            gramian[row, current] = gramian[current, row] = inner(held, passing)
        held = passing
    return gramian


def inner(ours: Gradients, theirs: Gradients) -> Tensor | float:
    """Return the inner product of two gradients in double precision, computed in chunks."""
    total: Tensor | float = 0.0
    for a, b in zip(ours, theirs, strict=True):
        if a is None or b is None:
            continue
        for left, right in zip(a.reshape(-1).split(CHUNK), b.reshape(-1).split(CHUNK), strict=True):
            total = total + _checks.wide(left) @ _checks.wide(right)
    return total
