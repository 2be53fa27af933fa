"""Checks that read values; they are skipped while a tensor has none (under tracing)."""

import math
import warnings

import numpy as np
import torch
from torch import Tensor

from morl_blocks._checks._convert import fail, is_traced, tensor, working

SIMPLEX_TOLERANCE = 1e-4
MODERATE = 1e6
"""Inputs below this size cannot cause an overflow in single precision."""

MOST = 2**31 - 1
"""Upper limit of sizes and seeds."""


def _offender(tensor: Tensor, good: Tensor) -> float | None:
    """Return the first number of ``tensor`` where ``good`` is false; ``None`` when all are good or unreadable."""
    if is_traced(tensor) or bool(good.all()):
        return None
    return float(tensor.detach()[~good].flatten()[0])


def finite(name: str, value: Tensor, rule: str = "be finite") -> None:
    """Require every number to be finite."""
    # One sum decides nearly every case at a fraction of the cost. It may overflow, so a sum that is not finite is
    # checked.
    if is_traced(value) or math.isfinite(value.detach().sum().item()):
        return
    bad = _offender(value, torch.isfinite(value))
    if bad is not None:
        fail(name, rule, bad)


def moderate(name: str, value: Tensor) -> None:
    """Require numbers that a network can sum without overflow: finite and below 1e18."""
    if is_traced(value) or not value.numel() or value.detach().abs().amax().item() < 1e18:
        return
    fail(name, "be finite and below 1e18", float(value.detach().abs().amax()))


def floating(name: str, value: Tensor) -> None:
    """Require floating-point numbers."""
    if not value.is_floating_point():
        fail(name, "be floating point", value.dtype)


def no_overflow(name: str, result: Tensor, value: Tensor, *, block: str = "", **others: Tensor) -> None:
    """Raise if finite inputs gave a result that is not finite; the error names the largest input.

    If none of the inputs is large, the error names the ``block``, whose formula is the cause.
    """
    if is_traced(result) or math.isfinite(result.detach().sum().item()) or bool(result.isfinite().all()):
        return
    sizes = {key: float(one.detach().abs().max()) for key, one in {name: value, **others}.items()}
    largest = max(sizes, key=lambda key: sizes[key])
    if block and sizes[largest] < MODERATE and result.element_size() >= 4:
        rule = f"give finite numbers for `{largest}` of size {sizes[largest]:g} and less"
        fail(block, rule, _offender(result, result.isfinite()))
    fail(largest, f"be small enough for a finite result in {result.dtype}", f"{sizes[largest]:g}")


def positive(name: str, value: Tensor | float) -> None:
    """Require finite numbers > 0."""
    value = tensor(name, value)
    bad = _offender(value, torch.isfinite(value) & (value > 0))
    if bad is not None:
        fail(name, "be > 0", bad)


def between(name: str, value: Tensor | float, low: float, high: float, *, bounds: str = "[]") -> None:
    """Require numbers in an interval; ``bounds`` such as ``"[)"`` says which ends are included."""
    value = tensor(name, value)
    above = value >= low if bounds[0] == "[" else value > low
    below = value <= high if bounds[1] == "]" else value < high
    bad = _offender(value, above & below)
    if bad is not None:
        left, right = ("[" if bounds[0] == "[" else "("), ("]" if bounds[1] == "]" else ")")
        fail(name, f"lie in {left}{low:g}, {high:g}{right}", bad)


def utopia(value: Tensor) -> None:
    """Require a finite utopia value; warn below 1, because a perfect return would then lie beyond it."""
    finite("utopia", value)
    if not is_traced(value) and bool((value < 1).any()):
        warnings.warn(
            f"`utopia` should be >= 1 for returns normalised to [0, 1], got {float(value.min())}.",
            UserWarning,
            stacklevel=3,
        )


def simplex(name: str, value: Tensor) -> None:
    """Require non-negative numbers that sum to 1 over the last dimension, up to 1e-4 or the dtype's rounding error."""
    finite(name, value)
    bad = _offender(value, value >= 0)
    if bad is not None:
        fail(name, "be >= 0", bad)
    total = working(value).sum(-1)
    rounding = torch.finfo(value.dtype).eps if value.is_floating_point() else 0.0
    bad = _offender(total, (total - 1).abs() <= max(SIMPLEX_TOLERANCE, 4 * rounding))
    if bad is not None:
        fail(name, "sum to 1", f"a sum of {bad}")


def within(name: str, value: Tensor, count: int) -> None:
    """Require indices below ``count``."""
    bad = _offender(value, (value >= 0) & (value < count))
    if bad is not None:
        fail(name, f"hold indices below {count}", int(bad))


def choice(name: str, value: str, options: tuple[str, ...]) -> None:
    """Require one of the given options."""
    if not isinstance(value, str) or value not in options:
        fail(name, f"be one of {', '.join(map(repr, options))}", repr(value))


def maximised(name: str, block: object) -> None:
    """Require a scalarizer whose utility is to be maximised; one without a ``sense`` is accepted."""
    sense = getattr(block, "sense", "max")
    if sense != "max":
        fail(name, "be one to maximise (sense='max')", f"{type(block).__name__} with sense={sense!r}")


def at_least(name: str, value: float, low: int) -> None:
    """Require a whole number >= ``low``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        fail(name, f"be a whole number >= {low}", value)
    if value > MOST:
        fail(name, f"be a whole number <= {MOST:,}", value)
