"""One gradient per objective in one backward pass, and the step from there to ``.grad``."""

import functools
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from morl_blocks import _checks
from morl_blocks.combiners import Combiner
from morl_blocks.combiners.torchjd import as_combiner


class Combined(NamedTuple):
    """What :func:`combine_gradients` did: the conflict ratio before, and the weight each gradient got."""

    conflict: Tensor
    weights: Tensor


def objective_jacobian(losses: Tensor | Sequence[Tensor], params: Iterable[Tensor]) -> Tensor:
    r"""Return the gradient of every loss, one row per objective.

    One batched backward pass (a vector-Jacobian product vectorised over the objectives). Modules that ``vmap`` cannot
    handle get one pass per objective instead, with the same result. Parameters that a loss does not use, or that do not
    require a gradient, have zeros. The graph is kept, so that a further term (an entropy bonus, say) can be
    differentiated afterwards.

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
    gradients = _gradients(losses, [p for p in params if p.requires_grad])
    return _flat(losses, params, gradients)


def combine_gradients(
    losses: Tensor | Sequence[Tensor],
    params: Iterable[Tensor],
    combiner: Combiner | Callable[[Tensor], Tensor],
    attention: Tensor | None = None,
    generator: Generator | None = None,
    *,
    accumulate: bool = False,
) -> Combined:
    """Write the combined gradient of several losses to ``.grad``, ready for any optimiser.

    A single loss (a scalarised advantage) has its own gradient and conflicts with nothing.

    Call ``zero_grad()`` first, as before ``backward()``. A parameter that already has a gradient (a value loss's, in a
    trunk that both share) is an error, so that none is lost; ``accumulate=True`` adds to it, as ``backward()`` does. A
    term that is not to be combined (an entropy bonus) is added with its own ``backward()`` afterwards. Parameters that
    no loss uses keep ``.grad`` as it was.

    Nothing is averaged over processes: ``DistributedDataParallel`` sees ``backward()`` alone. There, average
    :func:`objective_jacobian` and combine that.

    Args:
        losses: One loss per objective, ``[m]`` or m scalars, m >= 1.
        params: The parameters to update.
        combiner: How to combine, for example ``PCGrad()``; an aggregator or weighting of TorchJD such as ``UPGrad()``
            may be given as it is.
        attention: Attention over the objectives for weighted combiners, ``[m]`` or ``[b, m]``.
        generator: Source of randomness for combiners that draw; by default PyTorch's global one, or their own.
        accumulate: Add to gradients that are there already.

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
    trainable = [p for p in params if p.requires_grad]
    gradients = _gradients(losses, trainable)
    jacobian = _flat(losses, trainable, gradients)
    _checks.finite("losses", jacobian, "have finite gradients")
    used = [p for p, gradient in zip(trainable, gradients, strict=True) if gradient is not None]
    if not accumulate:
        _require_no_gradient(used)
    attention = attention.detach() if isinstance(attention, Tensor) else attention
    with _without_autocast(losses):
        merged = combiner.merge(jacobian, attention, generator)
    pieces = merged.gradient.split([p.numel() for p in trainable])
    for param, gradient, piece in zip(trainable, gradients, pieces, strict=True):
        if gradient is not None:
            piece = piece.view_as(param).to(param.dtype)
            param.grad = piece if param.grad is None or not accumulate else param.grad + piece
    return Combined(merged.conflict, merged.weights)


def _without_autocast(losses: Tensor) -> AbstractContextManager[None]:
    """Combine in the gradients' own precision, also where the caller is still inside ``torch.autocast``."""
    device = losses.device.type
    return torch.autocast(device, enabled=False) if torch.is_autocast_enabled(device) else nullcontext()


def _require_no_gradient(params: list[Tensor]) -> None:
    """Refuse to overwrite what another loss has left in ``.grad``."""
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
    _checks.objectives("losses", losses, minimum=1)
    return losses


def _scalar(loss: Tensor) -> Tensor:
    """Return a loss of one number as a scalar; refuse anything larger instead of reducing it."""
    if not isinstance(loss, Tensor):
        _checks.fail("losses", "hold tensors", type(loss).__name__)
    if loss.numel() != 1:
        _checks.fail("losses", "hold one number per objective", f"a loss of shape {list(loss.shape)}")
    return loss.reshape(())


def _gradients(losses: Tensor, params: list[Tensor]) -> list[Tensor | None]:
    """Return d losses / d param as ``[m, *param.shape]`` per parameter; ``None`` where no loss uses it."""
    if not losses.requires_grad or not params:
        raise ValueError("`losses` must depend on a parameter that requires a gradient, got none.")
    eye = torch.eye(len(losses), dtype=losses.dtype, device=losses.device)
    gradients: list[Tensor | None]
    try:
        gradients = list(
            torch.autograd.grad(losses, params, eye, retain_graph=True, is_grads_batched=True, allow_unused=True)
        )
    except RuntimeError:  # a module without a batching rule; a real error comes again below
        rows = [torch.autograd.grad(losses, params, row, retain_graph=True, allow_unused=True) for row in eye]
        gradients = [None if column[0] is None else torch.stack(column) for column in zip(*rows, strict=True)]
    if all(gradient is None for gradient in gradients):
        _checks.fail("params", "hold a parameter that a loss depends on", f"{len(params)} that none uses")
    return gradients


def _flat(losses: Tensor, params: list[Tensor], gradients: list[Tensor | None]) -> Tensor:
    """Join per-parameter gradients to one matrix ``[m, P]``; ``gradients`` belong to the params that require one."""
    m, remaining = len(losses), iter(gradients)
    columns = []
    for param in params:
        gradient = next(remaining) if param.requires_grad else None
        column = param.new_zeros(m, param.numel()) if gradient is None else gradient.reshape(m, param.numel())
        columns.append(column)
    dtype = functools.reduce(torch.promote_types, [column.dtype for column in columns], torch.float16)
    return torch.cat([column.to(dtype) for column in columns], -1)
