"""All checks of user input: each raises ``ValueError`` with the argument's name, the rule and the value.

Checks that must read numbers out of a tensor are skipped while ``torch.compile`` or ``torch.func.vmap`` traces it,
because there the numbers do not exist yet. The pure functions of the blocks check nothing, so that they stay cheap
and traceable; the modules call these checks on their behalf.
"""

import math
import warnings
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor

SIMPLEX_TOLERANCE = 1e-4


def fail(name: str, rule: str, value: object) -> NoReturn:
    """Raise the house ``ValueError``: what must hold, and what came instead."""
    raise ValueError(f"`{name}` must {rule}, got {value}.")


def is_traced(tensor: Tensor) -> bool:
    """Tell whether ``tensor`` holds no readable numbers (inside ``torch.compile`` or ``torch.func`` transforms)."""
    return torch.compiler.is_compiling() or torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def tensor(name: str, value: Any) -> Tensor:
    """Return ``value`` as a dense tensor of real numbers: a tensor, an array, a number or a (nested) list of them."""
    if isinstance(value, np.ma.MaskedArray):
        fail(name, "have no mask", "a masked array")
    if isinstance(value, np.ndarray):
        value = np.array(value, copy=True)  # read-only, reversed and foreign layouts become ordinary ones
    try:
        result = value if isinstance(value, Tensor) else torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        text = repr(value)
        text = text if len(text) < 60 else f"{text[:60]}..."
        raise ValueError(f"`{name}` must be a tensor, an array or a list of numbers, got {text}.") from error
    if result.is_complex() or result.layout is not torch.strided or result.is_quantized:
        fail(name, "be a dense tensor of real numbers", f"{result.dtype} with layout {result.layout}")
    return result


def floats(name: str, value: Any) -> Tensor:
    """Return ``value`` as a floating-point tensor; whole numbers get PyTorch's default dtype."""
    result = tensor(name, value)
    return result if result.is_floating_point() else result.to(torch.get_default_dtype())


def _offender(tensor: Tensor, good: Tensor) -> float | None:
    """Return the first number of ``tensor`` where ``good`` is false; ``None`` when all are good or unreadable."""
    if is_traced(tensor) or bool(good.all()):
        return None
    return float(tensor.detach()[~good].flatten()[0])


def finite(name: str, value: Tensor) -> None:
    """Require every number to be finite."""
    # One sum tells in nearly every case, at a fraction of the cost; it may overflow, so it cannot tell in all.
    if is_traced(value) or math.isfinite(value.detach().sum().item()):
        return
    bad = _offender(value, torch.isfinite(value))
    if bad is not None:
        fail(name, "be finite", bad)


def floating(name: str, value: Tensor) -> None:
    """Require floating-point numbers."""
    if not value.is_floating_point():
        fail(name, "be floating point", value.dtype)


def positive(name: str, value: Tensor | float) -> None:
    """Require finite numbers > 0."""
    value = torch.as_tensor(value)
    bad = _offender(value, torch.isfinite(value) & (value > 0))
    if bad is not None:
        fail(name, "be > 0", bad)


def between(name: str, value: Tensor | float, low: float, high: float, *, bounds: str = "[]") -> None:
    """Require numbers in an interval; ``bounds`` such as ``"[)"`` says which ends belong to it."""
    value = torch.as_tensor(value)
    above = value >= low if bounds[0] == "[" else value > low
    below = value <= high if bounds[1] == "]" else value < high
    bad = _offender(value, above & below)
    if bad is not None:
        left, right = ("[" if bounds[0] == "[" else "("), ("]" if bounds[1] == "]" else ")")
        fail(name, f"lie in {left}{low:g}, {high:g}{right}", bad)


def utopia(value: Tensor | float) -> None:
    """Require a finite utopia value and warn below 1, where a perfect return would count as a loss."""
    value = torch.as_tensor(value)
    finite("utopia", value)
    if not is_traced(value) and bool((value < 1).any()):
        warnings.warn(
            f"`utopia` should be >= 1 for returns normalised to [0, 1], got {float(value.min())}.",
            UserWarning,
            stacklevel=3,
        )


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
    if value.dim() > len(shape) or any(
        a not in (1, b) for a, b in zip(reversed(value.shape), reversed(shape), strict=False)
    ):
        fail(name, f"broadcast to shape {list(shape)}", f"shape {list(value.shape)}")


def simplex(name: str, value: Tensor) -> None:
    """Require non-negative numbers that sum to 1 over the last dimension (tolerance 1e-4)."""
    finite(name, value)
    bad = _offender(value, value >= 0)
    if bad is not None:
        fail(name, "be >= 0", bad)
    total = value.sum(-1)
    bad = _offender(total, (total - 1).abs() <= SIMPLEX_TOLERANCE)
    if bad is not None:
        fail(name, "sum to 1", f"a sum of {bad}")


def gramian(value: Tensor) -> None:
    """Require a finite symmetric matrix (or batch of them) over at least one objective."""
    square("gramian", value)
    objectives("gramian", value, minimum=1)
    finite("gramian", value)
    if is_traced(value) or torch.equal(value, value.mT):
        return
    error = (value - value.mT).abs()
    if bool((error > 1e-4 * value.abs().max()).any()):
        fail("gramian", "be symmetric", f"an asymmetry of {float(error.max()):g}")


def square(name: str, value: Tensor) -> None:
    """Require a square matrix or a batch of them."""
    if value.dim() < 2 or value.shape[-1] != value.shape[-2]:
        fail(name, "be square, [*R, m, m]", f"shape {list(value.shape)}")


def same_shape(name: str, value: Tensor, shape: torch.Size) -> None:
    """Require exactly this shape."""
    if value.shape != shape:
        fail(name, f"have shape {list(shape)}", f"shape {list(value.shape)}")


def vectors_over_time(name: str, value: Tensor) -> None:
    """Require one floating-point vector per time, ``[*B, T, m]`` with at least one time."""
    floating(name, value)
    if value.dim() < 2 or value.shape[-2] < 1:
        fail(name, "be [*B, T, m] with T >= 1", f"shape {list(value.shape)}")


def jacobian(value: Tensor) -> None:
    """Require one gradient per objective, ``[*R, m, P]``."""
    if value.dim() < 2 or value.shape[-2] < 1:
        fail("jacobian", "be [*R, m, P]", f"shape {list(value.shape)}")


def choice(name: str, value: str, options: tuple[str, ...]) -> None:
    """Require one of a few words."""
    if value not in options:
        fail(name, f"be one of {', '.join(map(repr, options))}", repr(value))


def at_least(name: str, value: float, low: int) -> None:
    """Require a whole number >= ``low``."""
    if math.isnan(value) or value != int(value) or value < low:
        fail(name, f"be a whole number >= {low}", value)
