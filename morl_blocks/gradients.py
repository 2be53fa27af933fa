"""The gradient of each objective in one backward pass, and their combination in ``.grad``."""

import functools
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from morl_blocks import _checks
from morl_blocks._backward import Block, as_blocks, gradients_at_once, gradients_of, gramian_by_pairs, require_used
from morl_blocks.combiners import Combiner
from morl_blocks.combiners.gramian import gramian_of
from morl_blocks.combiners.torchjd import as_combiner


class Combined(NamedTuple):
    """Result of :func:`combine_gradients`: the conflict ratio before combining, and the weight of each gradient."""

    conflict: Tensor
    weights: Tensor


def objective_jacobian(losses: Tensor | Sequence[Tensor], params: Iterable[Tensor]) -> Tensor:
    r"""Return the gradient of every loss, one row per objective.

    It uses one batched backward pass (a vector-Jacobian product vectorised over the objectives). For modules that
    ``vmap`` cannot handle it uses one pass per objective instead, with the same result. Parameters that a loss does not
    use, or that do not require a gradient, have zeros. The graph is kept, so that a further term (such as an entropy
    bonus) can be differentiated afterwards.

    Args:
        losses: One loss per objective, ``[m]`` or m scalars.
        params: Parameters in a fixed order, P numbers in total.

    Returns:
        Jacobian, ``[m, P]``, in the order of ``params``.

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> objective_jacobian([x.sum(), x.prod()], [x])
        tensor([[1., 1.],
                [2., 1.]])
    """
    losses, params = _stacked(losses), _parameters(params)
    gradients = gradients_at_once(losses, _trainable(losses, params))
    return _flat(losses, params, gradients)


def combine_gradients(
    losses: Tensor | Sequence[Tensor],
    params: Iterable[Tensor],
    combiner: Combiner | Callable[[Tensor], Tensor],
    attention: Tensor | None = None,
    generator: Generator | None = None,
    *,
    accumulate: bool = False,
    low_memory: bool = False,
) -> Combined:
    """Write the combined gradient of several losses to ``.grad``, ready for any optimiser.

    A single loss (a scalarised advantage) has its own gradient and conflicts with nothing.

    Call ``zero_grad()`` first, as before ``backward()``. A parameter that already has a gradient (such as that of a
    value loss in a shared trunk) raises an error, so that no gradient is lost; ``accumulate=True`` adds to it, as
    ``backward()`` does. Add a term that is not combined (such as an entropy bonus) with its own ``backward()``
    afterwards. Parameters that no loss uses keep their ``.grad``.

    Gradients are not averaged over processes, because ``DistributedDataParallel`` only hooks into ``backward()``. With
    it, average the :func:`objective_jacobian` and combine the average.

    Args:
        losses: One loss per objective, ``[m]`` or m scalars, m >= 1.
        params: The parameters to update.
        combiner: How to combine, for example ``PCGrad()``; an aggregator or weighting of TorchJD such as ``UPGrad()``
            can be passed directly.
        attention: Attention over the objectives for weighted combiners, ``[m]`` or ``[b, m]``.
        generator: Source of randomness for combiners that draw; by default their own or PyTorch's global one.
        accumulate: Add to existing gradients.
        low_memory: Keep at most two gradients of the parameters' size instead of m + 1. The Gramian then takes
            1 + m (m - 1) / 2 backward passes and the sum one more, instead of m at once. Combiners that need all
            gradients (some of TorchJD's) refuse it.

    Returns:
        Conflict ratio (a scalar) and weights ``[m]``.

    Example:
        >>> from morl_blocks.combiners import PCGrad
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> combine_gradients([x[0], x[1] - x[0]], [x], PCGrad())
        Combined(conflict=tensor(1.), weights=tensor([2.0000, 1.5000]))
        >>> x.grad
        tensor([0.5000, 1.5000])
    """
    combiner = as_combiner(combiner)
    losses, params = _stacked(losses), _parameters(params)
    _checks.finite("losses", losses)
    trainable = _trainable(losses, params)
    attention = attention.detach() if isinstance(attention, Tensor) else attention
    if low_memory and combiner.needs_jacobian:
        _checks.fail("low_memory", f"be False for {type(combiner).__name__}, which needs all gradients", low_memory)
    route = _by_pairs if low_memory else _by_jacobian if combiner.needs_jacobian else _by_blocks
    with _without_autocast(losses):
        combined, blocks = route(losses, trainable, combiner, attention, generator)
    _write(blocks, accumulate=accumulate)
    return combined


def _by_blocks(
    losses: Tensor, params: list[Tensor], combiner: Combiner, attention: Tensor | None, generator: Generator | None
) -> tuple[Combined, list[Block]]:
    """Combine without concatenating the gradients: compute the Gramian and the weighted sum parameter by parameter."""
    blocks = as_blocks(params, gradients_at_once(losses, params))
    rows = [block.rows for block in blocks]
    gramian = gramian_of(*rows)
    if not _checks.is_traced(gramian) and not bool(gramian.isfinite().all()):
        for block in rows:
            _checks.finite("losses", block, "have finite gradients")
            _checks.no_overflow("losses", gramian, block)
    weights, conflict = combiner.weigh(gramian, attention, generator)
    sums = [Block(block.params, _weighted(combiner, weights, block.rows)) for block in blocks]
    dtype = _widest(rows)
    return Combined(conflict.to(dtype), weights.to(dtype)), sums


def _by_jacobian(
    losses: Tensor, params: list[Tensor], combiner: Combiner, attention: Tensor | None, generator: Generator | None
) -> tuple[Combined, list[Block]]:
    """Pass all gradients to a combiner that needs more than their inner products."""
    gradients = gradients_at_once(losses, params)
    jacobian = _flat(losses, params, gradients)
    _checks.finite("losses", jacobian, "have finite gradients")
    merged = combiner.merge(jacobian, attention, generator)
    pieces = merged.gradient.split([p.numel() for p in params])
    triples = zip(params, gradients, pieces, strict=True)
    return Combined(merged.conflict, merged.weights), [Block([p], piece) for p, g, piece in triples if g is not None]


def _by_pairs(
    losses: Tensor, params: list[Tensor], combiner: Combiner, attention: Tensor | None, generator: Generator | None
) -> tuple[Combined, list[Block]]:
    """Combine with at most two gradients in memory; one more backward pass computes the weighted sum."""
    gramian = gramian_by_pairs(losses, params)
    _checks.finite("losses", gramian, "have finite gradients")
    weights, conflict = combiner.weigh(gramian, attention, generator)
    gradients = gradients_of(losses, weights, params)
    require_used(params, gradients)
    used = [(p, gradient) for p, gradient in zip(params, gradients, strict=True) if gradient is not None]
    for _, gradient in used:
        _checks.finite(type(combiner).__name__, gradient, "give a finite gradient")
    dtype = _widest([gradient for _, gradient in used])
    return Combined(conflict.to(dtype), weights.to(dtype)), [Block([p], gradient.flatten()) for p, gradient in used]


def _weighted(combiner: Combiner, weights: Tensor, rows: Tensor) -> Tensor:
    """Return the weighted sum of the rows in their own precision."""
    wide = torch.promote_types(weights.dtype, rows.dtype)
    total = (weights.to(wide) @ rows.to(wide)).to(rows.dtype)
    _checks.no_overflow("losses", total, rows, block=type(combiner).__name__)
    return total


def _write(blocks: list[Block], *, accumulate: bool) -> None:
    """Write the gradient of each block to ``.grad`` of its parameters."""
    if not accumulate:
        _require_no_gradient([param for block in blocks for param in block.params])
    for block in blocks:
        for param, piece in zip(block.params, block.rows.split([p.numel() for p in block.params]), strict=True):
            gradient = piece.view_as(param).to(param.dtype)
            param.grad = gradient if param.grad is None or not accumulate else param.grad + gradient


def _trainable(losses: Tensor, params: list[Tensor]) -> list[Tensor]:
    """Return the parameters that require a gradient; raise if there is none or the losses have no graph."""
    trainable = [p for p in params if p.requires_grad]
    if not losses.requires_grad or not trainable:
        raise ValueError("`losses` must depend on a parameter that requires a gradient, got none.")
    return trainable


def _widest(tensors: Sequence[Tensor]) -> torch.dtype:
    """Return the widest dtype among the tensors."""
    return functools.reduce(torch.promote_types, [tensor.dtype for tensor in tensors], torch.float16)


def _without_autocast(losses: Tensor) -> AbstractContextManager[None]:
    """Combine in the gradients' own precision, even if the caller is still inside ``torch.autocast``."""
    device = losses.device.type
    return torch.autocast(device, enabled=False) if torch.is_autocast_enabled(device) else nullcontext()


def _require_no_gradient(params: list[Tensor]) -> None:
    """Raise if ``.grad`` already holds the gradient of another loss."""
    for param in params:
        if param.grad is not None and bool(param.grad.any()):
            rule = "have no gradient yet: call zero_grad() before, or pass accumulate=True to add to it"
            _checks.fail("params", rule, f"a parameter of shape {list(param.shape)} that has one")


def _parameters(params: Iterable[Tensor]) -> list[Tensor]:
    """Return the parameters as a list of tensors."""
    listed = [params] if isinstance(params, Tensor) else params
    try:
        listed = list(listed)
    except TypeError:
        _checks.fail("params", "be an iterable of tensors", type(params).__name__)
    for param in listed:
        if not isinstance(param, Tensor):
            _checks.fail("params", "hold tensors", type(param).__name__)
    return listed


def _stacked(losses: Tensor | Sequence[Tensor]) -> Tensor:
    """Return the losses as one vector ``[m]``."""
    if not isinstance(losses, Tensor):
        if not isinstance(losses, Iterable):
            _checks.fail("losses", "be a vector [m] or a sequence of m scalars", type(losses).__name__)
        listed = [_scalar(loss) for loss in losses]
        if not listed:
            _checks.fail("losses", "hold at least one loss", "none")
        dtype = functools.reduce(torch.promote_types, [loss.dtype for loss in listed])
        losses = torch.stack([loss.to(dtype) for loss in listed])
    if losses.dim() != 1:
        rule = "be a vector [m] or a sequence of m scalars (one run; loop over several)"
        _checks.fail("losses", rule, f"shape {list(losses.shape)}")
    if losses.is_meta:
        _checks.fail("losses", "hold numbers", "a tensor on the meta device")
    _checks.objectives("losses", losses, minimum=1)
    _checks.floating("losses", losses)
    return losses


def _scalar(loss: Tensor) -> Tensor:
    """Return a loss of one number as a scalar; raise for anything larger instead of reducing it."""
    if not isinstance(loss, Tensor):
        _checks.fail("losses", "hold tensors", type(loss).__name__)
    if loss.numel() != 1:
        _checks.fail("losses", "hold one number per objective", f"a loss of shape {list(loss.shape)}")
    return loss.reshape(())


def _flat(losses: Tensor, params: list[Tensor], gradients: list[Tensor | None]) -> Tensor:
    """Concatenate gradients to a matrix ``[m, P]``; ``gradients`` belong to the parameters that require one."""
    m, remaining = len(losses), iter(gradients)
    columns = []
    for param in params:
        gradient = next(remaining) if param.requires_grad else None
        column = param.new_zeros(m, param.numel()) if gradient is None else gradient.reshape(m, param.numel())
        columns.append(column)
    dtype = _widest(columns)
    return torch.cat([column.to(dtype) for column in columns], -1)
