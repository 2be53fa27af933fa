"""Checks of user input: each raises ``ValueError`` with the argument's name, the rule and the value."""

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, SupportsFloat, SupportsIndex, TypeVar, cast

from morl_recipes.common.text import for_terminal

SIMPLEX_TOLERANCE = 1e-4
LONGEST_NAME = 255
"""Most bytes in the name of a file or a folder on the usual file systems."""

T = TypeVar("T")


def fail(name: str, rule: str, value: object) -> NoReturn:
    """Raise the package's ``ValueError``: the argument, the rule and the value."""
    raise ValueError(for_terminal(f"`{name}` must {rule}, got {value}."))


def instance(name: str, value: object, kind: type[T], rule: str) -> T:
    """Require an object of a class."""
    if not isinstance(value, kind):
        fail(name, rule, repr(value)[:200])
    return value


def flag(name: str, value: object) -> bool:
    """Require true or false; a word such as ``"no"`` would count as true."""
    return instance(name, value, bool, "be true or false")


def text(name: str, value: object) -> str:
    """Require text."""
    return instance(name, value, str, "be text")


def names(name: str, value: object) -> tuple[str, ...]:
    """Require one name or a list of names; return a tuple, each once."""
    items = [value] if isinstance(value, str) else _items(value) or []
    words = [item for item in items if isinstance(item, str)]
    if not words or len(words) < len(items):
        fail(name, "be a list of names", repr(value))
    return tuple(dict.fromkeys(words))


def table(name: str, value: object) -> Mapping[str, Any]:
    """Require a mapping from names."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        fail(name, "be a table of names and values", repr(value)[:200])
    return value


def path(name: str, value: object) -> Path:
    """Require a path that a file system can have."""
    found = Path(value) if isinstance(value, str | PathLike) else None
    if found is None or "\0" in str(found) or any(len(part.encode()) > LONGEST_NAME for part in found.parts):
        fail(name, "be a path", repr(value)[:200])
    return found


def number(name: str, value: object) -> float:
    """Require a number; return it as a float."""
    result = _number(value)
    if math.isnan(result):
        fail(name, "be a number", repr(value))
    return result


def positive(name: str, value: SupportsFloat) -> float:
    """Require a finite number > 0; return it as a float."""
    number = _number(value)
    if not (math.isfinite(number) and number > 0):
        fail(name, "be > 0", repr(value))
    return number


def between(name: str, value: SupportsFloat, low: float, high: float) -> float:
    """Require a finite number in ``[low, high]``; return it as a float."""
    number = _number(value)
    if not (math.isfinite(number) and low <= number <= high):
        fail(name, f"lie in [{low:g}, {high:g}]", repr(value))
    return number


def at_least(name: str, value: SupportsIndex, low: int) -> int:
    """Require an integer >= ``low``, also from NumPy; return it as an ``int``."""
    number = _whole(value)
    if number is None or number < low:
        fail(name, f"be a whole number >= {low}", repr(value))
    return number


def one_of(name: str, value: object, words: Iterable[str]) -> None:
    """Require one of two or more choices."""
    known = tuple(words)
    if not isinstance(value, str) or value not in known:
        *most, last = map(repr, known)
        fail(name, f"be {', '.join(most)} or {last}", repr(value))


def seeds(value: object) -> list[int]:
    """Require a list, an array or a tensor of at least one whole number >= 0; return ints."""
    items = _items(value)
    numbers = None if items is None else [_whole(item) for item in items]
    known = [number for number in numbers or () if number is not None and number >= 0]
    if numbers is None or len(known) < len(numbers):
        fail("seeds", "be a list of whole numbers >= 0", repr(value))
    if not known:
        fail("seeds", "hold at least one seed", "none")
    _distinct("seeds", known)
    return known


def preferences(value: object) -> list[tuple[float, ...]]:
    """Require a list of at least one preference, all of one length; return tuples."""
    items = _items(value)
    rows = None if items is None else [_numbers(item) for item in items]
    known = [row for row in rows or () if row is not None]
    if rows is None or len(known) < len(rows):
        fail("preferences", "be a list of lists of numbers, such as [[0.5, 0.5]]", repr(value))
    if not known:
        fail("preferences", "hold at least one preference", "none")
    one_length(known)
    _distinct("preferences", known)
    return [preference(row) for row in known]


def _distinct(name: str, values: Sequence[object]) -> None:
    """Raise for repeated values, because they would train the same runs twice and count them as two samples."""
    twice = [value for place, value in enumerate(values) if value in values[:place]]
    if twice:
        fail(name, "differ from each other", f"{twice[0]} twice")


def one_length(rows: Sequence[Sequence[float]]) -> None:
    """Require preferences of one length."""
    if len({len(row) for row in rows}) > 1:
        fail("preferences", "all have the same length", " and ".join(map(str, sorted({len(row) for row in rows}))))


def preference(
    value: Sequence[float], objectives: int | None = None, *, name: str = "preferences"
) -> tuple[float, ...]:
    """Require non-negative numbers that sum to 1, one per objective; return them as a tuple."""
    numbers = _numbers(value)
    if numbers is None:
        fail(name, "hold numbers", repr(value))
    if objectives is not None and len(numbers) != objectives:
        fail(name, f"hold {objectives} numbers each", list(numbers))
    if not all(math.isfinite(number) and number >= 0 for number in numbers):
        fail(name, "be >= 0", list(numbers))
    if abs(sum(numbers) - 1) > SIMPLEX_TOLERANCE:
        fail(name, "sum to 1", f"a sum of {sum(numbers):g} in {list(numbers)}")
    return numbers


def returned(block: object, method: str, value: object, shape: Sequence[int]) -> None:
    """Require a tensor of this shape from a block, which the user may have written."""
    given = getattr(value, "shape", None)
    if given is None or tuple(given) != tuple(shape):
        got = type(value).__name__ if given is None else f"shape {list(given)}"
        fail(f"{type(block).__name__}.{method}", f"return a tensor of shape {list(shape)}", got)


def compilable(torch_folder: str) -> None:
    """Raise where ``torch.compile`` cannot work: PyTorch 2.13 does not quote its own folder for the linker."""
    if " " in torch_folder:
        raise ValueError(
            f"`compile` must be off where PyTorch's own folder has a space in its name, got {torch_folder!r}. "
            "Train without it, or install into a folder without a space."
        )


def _convert(to: Callable[[Any], Any], value: object) -> Any:
    """Return a value converted, ``None`` if it cannot be; arrays and tensors raise all of these errors."""
    try:
        return to(value)
    except (TypeError, ValueError, RuntimeError):
        return None


def _number(value: object) -> float:
    """Return a number as a float, NaN for anything else, including text."""
    found: float | None = None if isinstance(value, bool | str) else _convert(float, value)
    return math.nan if found is None else found


def _whole(value: object) -> int | None:
    """Return an integer as an int, ``None`` for anything else."""
    return None if isinstance(value, bool) else cast("int | None", _convert(operator.index, value))


def _items(value: object) -> list[object] | None:
    """Return an iterable as a list, ``None`` for anything else, including text, bytes and mappings."""
    return None if isinstance(value, str | bytes | Mapping) else cast("list[object] | None", _convert(list, value))


def _numbers(value: object) -> tuple[float, ...] | None:
    """Return a row of numbers (NaN allowed) as a tuple, ``None`` for anything else."""
    items = _items(value)
    return None if items is None else _convert(lambda row: tuple(map(float, row)), items)
