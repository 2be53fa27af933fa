"""All checks of user input: each raises ``ValueError`` with the argument's name, the rule and the value.

Checks that must read numbers out of a tensor are skipped while ``torch.compile`` or ``torch.func.vmap`` traces it,
because there the numbers do not exist yet. The pure functions of the blocks check shapes and options (mu, gamma, ...)
but do not read their data: they stay cheap, and the NaN of one run cannot stop the others. The modules read them.
"""

import functools
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


def tensor(name: str, value: Any, dtype: torch.dtype | None = None) -> Tensor:
    """Return ``value`` as a dense tensor of real numbers: a tensor, an array, a number or a (nested) list of them.

    Tensors and arrays keep their dtype; numbers and lists get ``dtype``, so that none of their digits are lost.
    """
    if isinstance(value, np.ma.MaskedArray):
        fail(name, "have no mask", "a masked array")
    if isinstance(value, np.ndarray):
        # Read-only, reversed and foreign layouts become ordinary ones.
        value, dtype = np.array(value, copy=True), None
    try:
        result = value if isinstance(value, Tensor) else torch.as_tensor(value, dtype=dtype)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        text = repr(value)
        text = text if len(text) < 60 else f"{text[:60]}..."
        raise ValueError(f"`{name}` must be a tensor, an array or a list of numbers, got {text}.") from error
    if result.is_complex() or result.layout is not torch.strided or result.is_quantized:
        fail(name, "be a dense tensor of real numbers", f"{result.dtype} with layout {result.layout}")
    return result


def wide(value: Tensor) -> Tensor:
    """Return float64, or float32 on devices that have nothing wider."""
    return value.float() if value.device.type == "mps" else value.double()


def like(name: str, value: Any, other: Tensor) -> Tensor:
    """Return ``value`` in the dtype and on the device of ``other``, a floating-point tensor."""
    if is_plain(value) and value.dtype is other.dtype and value.device == other.device:
        return value  # type: ignore[no-any-return]
    return tensor(name, value, other.dtype).to(other)


def floats(name: str, value: Any) -> Tensor:
    """Return ``value`` as a floating-point tensor; whole numbers get PyTorch's default dtype."""
    result = tensor(name, value)
    return result if result.is_floating_point() else result.to(torch.get_default_dtype())


def is_plain(value: Any) -> bool:
    """Tell whether ``value`` is an ordinary floating-point tensor, with which every operation here works as it is."""
    return isinstance(value, Tensor) and value.is_floating_point() and value.layout is torch.strided


def alike(**values: Any) -> list[Tensor]:
    """Return floating-point tensors in the widest dtype among them."""
    given = list(values.values())
    if all(is_plain(value) and value.dtype is given[0].dtype for value in given):
        return given
    tensors = [floats(name, value) for name, value in values.items()]
    dtype = functools.reduce(torch.promote_types, [value.dtype for value in tensors])
    return [value.to(dtype) for value in tensors]


def _offender(tensor: Tensor, good: Tensor) -> float | None:
    """Return the first number of ``tensor`` where ``good`` is false; ``None`` when all are good or unreadable."""
    if is_traced(tensor) or bool(good.all()):
        return None
    return float(tensor.detach()[~good].flatten()[0])


def finite(name: str, value: Tensor, rule: str = "be finite") -> None:
    """Require every number to be finite."""
    # One sum tells in nearly every case, at a fraction of the cost; it may overflow, so it cannot tell in all.
    if is_traced(value) or math.isfinite(value.detach().sum().item()):
        return
    bad = _offender(value, torch.isfinite(value))
    if bad is not None:
        fail(name, rule, bad)


def moderate(name: str, value: Tensor) -> None:
    """Require numbers that a network can add up: finite and below 1e18."""
    if is_traced(value) or not value.numel() or value.detach().abs().amax().item() < 1e18:
        return
    fail(name, "be finite and below 1e18", float(value.detach().abs().amax()))


def floating(name: str, value: Tensor) -> None:
    """Require floating-point numbers."""
    if not value.is_floating_point():
        fail(name, "be floating point", value.dtype)


def number(name: str, value: Any) -> Tensor:
    """Return an option of a block, a number or one per run, in PyTorch's default dtype."""
    return tensor(name, value).to(torch.get_default_dtype())


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


def no_overflow(name: str, result: Tensor, value: Tensor, **others: Tensor) -> None:
    """Say so when finite input was too large for a finite result; of several inputs, name the largest."""
    if is_traced(result) or math.isfinite(result.detach().sum().item()) or bool(result.isfinite().all()):
        return
    sizes = {key: float(one.detach().abs().max()) for key, one in {name: value, **others}.items()}
    largest = max(sizes, key=lambda key: sizes[key])
    fail(largest, f"be small enough for a finite result in {result.dtype}", f"{sizes[largest]:g}")


def positive(name: str, value: Tensor | float) -> None:
    """Require finite numbers > 0."""
    value = tensor(name, value)
    bad = _offender(value, torch.isfinite(value) & (value > 0))
    if bad is not None:
        fail(name, "be > 0", bad)


def between(name: str, value: Tensor | float, low: float, high: float, *, bounds: str = "[]") -> None:
    """Require numbers in an interval; ``bounds`` such as ``"[)"`` says which ends belong to it."""
    value = tensor(name, value)
    above = value >= low if bounds[0] == "[" else value > low
    below = value <= high if bounds[1] == "]" else value < high
    bad = _offender(value, above & below)
    if bad is not None:
        left, right = ("[" if bounds[0] == "[" else "("), ("]" if bounds[1] == "]" else ")")
        fail(name, f"lie in {left}{low:g}, {high:g}{right}", bad)


def utopia(value: Tensor) -> None:
    """Require a finite utopia value and warn below 1, where a perfect return would count as a loss."""
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


def pair(values: Any, weights: Any) -> tuple[Tensor, Tensor]:
    """Return objective values ``[*B, m]`` and weights that broadcast to them, as floating point of one dtype."""
    values, weights = floats("values", values), floats("weights", weights)
    objectives("values", values, minimum=1)
    broadcastable("weights", weights, values.shape)
    return values, weights.to(values)


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
    objectives("gramian", square("gramian", value), minimum=1)
    finite("gramian", value)
    if is_traced(value) or torch.equal(value, value.mT):
        return
    error = (value - value.mT).abs()
    if bool((error > 1e-4 * value.abs().max()).any()):
        fail("gramian", "be symmetric", f"an asymmetry of {float(error.max()):g}")


def square(name: str, value: Any) -> Tensor:
    """Return a square matrix or a batch of them, as floating point."""
    result = floats(name, value)
    if result.dim() < 2 or result.shape[-1] != result.shape[-2]:
        fail(name, "be square, [*R, m, m]", f"shape {list(result.shape)}")
    return result


def same_shape(name: str, value: Tensor, shape: torch.Size) -> None:
    """Require exactly this shape."""
    if value.shape != shape:
        fail(name, f"have shape {list(shape)}", f"shape {list(value.shape)}")


def over_time(name: str, value: Any) -> Tensor:
    """Return one vector per time, ``[*B, T, m]`` with at least one time, as floating point."""
    result = floats(name, value)
    if result.dim() < 2 or result.shape[-2] < 1:
        fail(name, "be [*B, T, m] with T >= 1", f"shape {list(result.shape)}")
    return result


def indices(name: str, value: Any) -> Tensor:
    """Return whole numbers as int64."""
    result = tensor(name, value)
    if result.is_floating_point() or result.dtype == torch.bool:
        fail(name, "hold whole numbers", result.dtype)
    return result.long()


def within(name: str, value: Tensor, count: int) -> None:
    """Require indices of ``count`` things."""
    bad = _offender(value, (value >= 0) & (value < count))
    if bad is not None:
        fail(name, f"hold indices below {count}", int(bad))


def flags(name: str, value: Any, shape: torch.Size) -> Tensor:
    """Return booleans of exactly this shape."""
    result = tensor(name, value)
    same_shape(name, result, shape)
    if result.dtype != torch.bool:
        fail(name, "be bool", result.dtype)
    return result


def jacobian(value: Tensor) -> None:
    """Require one finite gradient per objective, ``[*R, m, P]``."""
    if value.dim() < 2 or value.shape[-2] < 1:
        fail("jacobian", "be [*R, m, P]", f"shape {list(value.shape)}")
    finite("jacobian", value)


def choice(name: str, value: str, options: tuple[str, ...]) -> None:
    """Require one of a few words."""
    if not isinstance(value, str) or value not in options:
        fail(name, f"be one of {', '.join(map(repr, options))}", repr(value))


def at_least(name: str, value: float, low: int) -> None:
    """Require a whole number >= ``low``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        fail(name, f"be a whole number >= {low}", value)
