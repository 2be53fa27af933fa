"""Checks of shapes and dtypes, which ``torch.compile`` removes."""

from typing import Any

import torch
from torch import Tensor

from morl_blocks._checks._convert import fail, floats, is_traced, tensor
from morl_blocks._checks._numbers import finite


def objectives(name: str, value: Tensor, count: int | None = None, *, minimum: int = 2) -> None:
    """Require a last dimension of ``count`` objectives (any number >= ``minimum`` when ``count`` is ``None``)."""
    shape = list(value.shape)
    if not shape or shape[-1] < minimum:
        fail(name, f"have at least {minimum} objectives in its last dimension", f"shape {shape}")
    if count is not None and shape[-1] != count:
        fail(name, f"have {count} objectives in its last dimension", f"shape {shape}")


def features(name: str, value: Tensor, count: int) -> None:
    """Require a last dimension of ``count`` numbers."""
    shape = list(value.shape)
    if not shape or shape[-1] != count:
        fail(name, f"have {count} numbers in its last dimension", f"shape {shape}")


def broadcastable(name: str, value: Tensor, shape: torch.Size) -> None:
    """Require that ``value`` broadcasts to ``shape`` without enlarging it."""
    own = value.shape
    # No early return for equal shapes: comparing whole shapes would fix the batch size in an exported policy.
    if len(own) > len(shape) or any(a not in (1, b) for a, b in zip(own, shape[len(shape) - len(own) :], strict=True)):
        fail(name, f"broadcast to shape {list(shape)}", f"shape {list(value.shape)}")


def aligned(name: str, value: Tensor, shape: torch.Size) -> None:
    """Require one vector for all of ``shape``, or a tensor with as many dimensions, of size 1 where it is shared.

    A tensor with fewer dimensions, such as ``[R, m]`` beside ``[R, T, m]``, would be broadcast over the wrong
    dimension.
    """
    if 1 < value.dim() < len(shape):
        rule = f"be one vector or have {len(shape)} dimensions (of size 1 where shared), as shape {list(shape)}"
        fail(name, rule, f"shape {list(value.shape)}")
    broadcastable(name, value, shape)


def same_shape(name: str, value: Tensor, shape: torch.Size) -> None:
    """Require exactly this shape."""
    if value.shape != shape:
        fail(name, f"have shape {list(shape)}", f"shape {list(value.shape)}")


def per_run(**values: Tensor) -> torch.Size:
    """Require numbers or tensors of one shape, one entry per run; no broadcasting between ``[R]`` and ``[R, 1]``."""
    shapes = {name: value.shape for name, value in values.items() if value.dim()}
    for name, shape in shapes.items():
        first = next(iter(shapes))
        if not shape.numel():
            fail(name, "hold at least one number", f"shape {list(shape)}")
        if shape != shapes[first]:
            fail(name, f"be a number or have the shape of {first}, {list(shapes[first])}", f"shape {list(shape)}")
    return next(iter(shapes.values()), torch.Size())


def pair(values: Any, weights: Any) -> tuple[Tensor, Tensor]:
    """Return objective values ``[*B, m]`` and weights ``[m]`` or ``[*B, m]``, as floating point of one dtype."""
    values, weights = floats("values", values), floats("weights", weights)
    objectives("values", values, minimum=1)
    aligned("weights", weights, values.shape)
    return values, weights.to(values)


def square(name: str, value: Any) -> Tensor:
    """Return a square matrix or a batch of them, as floating point."""
    result = floats(name, value)
    if result.dim() < 2 or result.shape[-1] != result.shape[-2]:
        fail(name, "be square, [*R, m, m]", f"shape {list(result.shape)}")
    return result


def gramian(value: Tensor) -> None:
    """Require a finite symmetric matrix (or batch of them) over at least one objective."""
    objectives("gramian", square("gramian", value), minimum=1)
    finite("gramian", value)
    if is_traced(value) or torch.equal(value, value.mT):
        return
    error = (value - value.mT).abs()
    if bool((error > 1e-4 * value.abs().max()).any()):
        fail("gramian", "be symmetric", f"an asymmetry of {float(error.max()):g}")


def jacobian(value: Tensor) -> None:
    """Require one finite gradient per objective, ``[*R, m, P]``."""
    if value.dim() < 2 or value.shape[-2] < 1:
        fail("jacobian", "be [*R, m, P]", f"shape {list(value.shape)}")
    finite("jacobian", value)


def over_time(name: str, value: Any) -> Tensor:
    """Return one vector per time, ``[*B, T, m]`` with at least one time, as floating point."""
    result = floats(name, value)
    if result.dim() < 2 or result.shape[-2] < 1:
        fail(name, "be [*B, T, m] with T >= 1", f"shape {list(result.shape)}")
    return result


def indices(name: str, value: Any) -> Tensor:
    """Return integers as int64."""
    result = tensor(name, value)
    if result.is_floating_point() or result.dtype == torch.bool:
        fail(name, "hold whole numbers", result.dtype)
    return result.long()


def flags(name: str, value: Any, shape: torch.Size) -> Tensor:
    """Return booleans of exactly this shape."""
    result = tensor(name, value)
    same_shape(name, result, shape)
    if result.dtype != torch.bool:
        fail(name, "be bool", result.dtype)
    return result
