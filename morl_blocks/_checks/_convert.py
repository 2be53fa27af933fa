"""Conversion of user input to dense tensors of real numbers."""

import functools
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor


def fail(name: str, rule: str, value: object) -> NoReturn:
    """Raise ``ValueError`` with the argument's name, the rule and the value that broke it."""
    raise ValueError(f"`{name}` must {rule}, got {value}.")


def is_traced(tensor: Tensor) -> bool:
    """Return whether ``tensor`` has no readable values (inside ``torch.compile`` or ``torch.func`` transforms)."""
    return torch.compiler.is_compiling() or torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def tensor(name: str, value: Any, dtype: torch.dtype | None = None) -> Tensor:
    """Return ``value`` as a dense tensor of real numbers: a tensor, an array, a number or a (nested) list of them.

    Tensors and arrays keep their dtype; numbers and lists get ``dtype``, so that they lose no precision.
    """
    if isinstance(value, np.ma.MaskedArray):
        fail(name, "have no mask", "a masked array")
    if isinstance(value, np.ndarray):
        # The copy removes layouts that torch cannot read: read-only arrays and negative strides.
        value, dtype = np.array(value, copy=True), None
    try:
        result = value if isinstance(value, Tensor) else torch.as_tensor(value, dtype=dtype)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        text = repr(value)
        text = text if len(text) < 60 else f"{text[:60]}..."
        raise ValueError(f"`{name}` must be a tensor, an array or a list of numbers, got {text}.") from error
    if result.is_complex() or result.layout is not torch.strided or result.is_quantized:
        fail(name, "be a dense tensor of real numbers", f"{result.dtype} with layout {result.layout}")
    if result.is_meta:
        fail(name, "hold numbers", "a tensor on the meta device")
    return result


def wide(value: Tensor) -> Tensor:
    """Return float64, or float32 on devices without float64."""
    return value.float() if value.device.type == "mps" else value.double()


def working(value: Tensor) -> Tensor:
    """Return ``value`` in at least single precision, because half precision is too coarse for sums."""
    return value.float() if value.element_size() < 4 else value


def is_plain(value: Any) -> bool:
    """Return whether ``value`` is an ordinary floating-point tensor that needs no conversion."""
    strided = isinstance(value, Tensor) and value.is_floating_point() and value.layout is torch.strided
    return strided and not value.is_meta


def like(name: str, value: Any, other: Tensor) -> Tensor:
    """Return ``value`` in the dtype and on the device of ``other``, a floating-point tensor."""
    if is_plain(value) and value.dtype is other.dtype and value.device == other.device:
        return value  # type: ignore[no-any-return]
    return tensor(name, value, other.dtype).to(other)


def floats(name: str, value: Any) -> Tensor:
    """Return ``value`` as a floating-point tensor; integers get PyTorch's default dtype."""
    result = tensor(name, value)
    return result if result.is_floating_point() else result.to(torch.get_default_dtype())


def alike(**values: Any) -> list[Tensor]:
    """Return floating-point tensors in the widest dtype among them."""
    given = list(values.values())
    if all(is_plain(value) and value.dtype is given[0].dtype for value in given):
        return given
    tensors = [floats(name, value) for name, value in values.items()]
    dtype = functools.reduce(torch.promote_types, [value.dtype for value in tensors])
    return [value.to(dtype) for value in tensors]


def own(value: Tensor) -> Tensor:
    """Return a copy for a block to keep; a tensor that requires a gradient is not copied, so that it can be trained."""
    return value if value.requires_grad else value.clone()


def single(name: str, value: Any) -> float:
    """Return an option that is one number for all runs."""
    given = tensor(name, value)
    if given.numel() != 1 or given.is_complex():
        fail(name, "be one number", repr(value))
    return float(value) if isinstance(value, float) else float(given)


def number(name: str, value: Any) -> Tensor:
    """Return an option of a block, a number or one per run, in PyTorch's default dtype; copied as in :func:`own`."""
    return own(tensor(name, value).to(torch.get_default_dtype()))
