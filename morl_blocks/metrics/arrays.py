"""Conversion of arrays, tensors and lists to checked ``float64`` arrays."""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from morl_blocks._checks import fail, tensor

Array: TypeAlias = NDArray[np.float64]
Values: TypeAlias = ArrayLike | Tensor


def as_array(name: str, values: Values, *, ndim: int = 0) -> Array:
    """Return ``values`` as finite ``float64`` numbers with at least ``ndim`` dimensions.

    Args:
        name: Name of the argument, for the message.
        values: Array, tensor (also one that requires a gradient or lives on a device) or nested list.
        ndim: Fewest dimensions.

    Returns:
        The array; copied only if it had to be converted.

    Example:
        >>> as_array("points", [[1, 2], [3, 4]], ndim=2)
        array([[1., 2.],
               [3., 4.]])
    """
    array = real_array(name, values)
    if array.ndim < ndim:
        fail(name, f"have at least {ndim} dimensions", f"shape {list(array.shape)}")
    good = np.isfinite(array)
    if not good.all():
        fail(name, "be finite", array[~good].flat[0])
    return array


def real_array(name: str, values: Values) -> Array:
    """Return ``values`` as ``float64`` numbers, NaN included; masked and complex arrays raise an error."""
    if isinstance(values, Tensor):
        values = tensor(name, values).detach().cpu().double().numpy()
    if isinstance(values, np.ma.MaskedArray):
        fail(name, "have no mask", "a masked array")
    try:
        if np.iscomplexobj(values):
            fail(name, "hold real numbers", "complex ones")
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        if str(error).startswith(f"`{name}`"):
            raise
        raise ValueError(f"`{name}` must be a rectangular array of numbers, got {values!r}.") from None


def as_number(name: str, value: Values) -> float:
    """Return one finite number, such as a level or a factor."""
    array = as_array(name, value)
    if array.ndim or isinstance(value, bool):
        fail(name, "be a number", value)
    return float(array)


def same_objectives(name: str, values: Array, count: int) -> None:
    """Require ``[m]`` or ``[*, m]`` numbers over ``count`` objectives."""
    if values.ndim == 0 or values.shape[-1] != count:
        fail(name, f"have {count} objectives in its last dimension", f"shape {list(values.shape)}")


def not_empty(name: str, values: Array) -> None:
    """Require at least one number, because the mean of no numbers is undefined."""
    if values.size == 0:
        fail(name, "hold at least one value", f"shape {list(values.shape)}")


def not_negative(name: str, values: Array) -> None:
    """Require numbers >= 0."""
    if (values < 0).any():
        fail(name, "be >= 0", values.min())
