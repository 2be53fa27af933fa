"""Checks of user input: each raises ``ValueError`` with the argument's name, the rule and the value."""

import math
from collections.abc import Sequence
from typing import NoReturn

SIMPLEX_TOLERANCE = 1e-4


def fail(name: str, rule: str, value: object) -> NoReturn:
    """Raise the house ``ValueError``: what must hold, and what came instead."""
    raise ValueError(f"`{name}` must {rule}, got {value}.")


def positive(name: str, value: float) -> None:
    """Require a finite number > 0."""
    if not (math.isfinite(value) and value > 0):
        fail(name, "be > 0", value)


def between(name: str, value: float, low: float, high: float) -> None:
    """Require a finite number in ``[low, high]``."""
    if not (math.isfinite(value) and low <= value <= high):
        fail(name, f"lie in [{low:g}, {high:g}]", value)


def at_least(name: str, value: int, low: int) -> None:
    """Require a whole number >= ``low``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        fail(name, f"be a whole number >= {low}", value)


def preference(value: Sequence[float], objectives: int | None = None) -> tuple[float, ...]:
    """Require non-negative numbers that sum to 1, one per objective; return them as a tuple."""
    numbers = tuple(float(number) for number in value)
    if objectives is not None and len(numbers) != objectives:
        fail("preferences", f"hold {objectives} numbers each", list(numbers))
    if not all(math.isfinite(number) and number >= 0 for number in numbers):
        fail("preferences", "be >= 0", list(numbers))
    if abs(sum(numbers) - 1) > SIMPLEX_TOLERANCE:
        fail("preferences", "sum to 1", f"a sum of {sum(numbers):g} in {list(numbers)}")
    return numbers


def compilable(torch_folder: str) -> None:
    """Refuse ``torch.compile`` where it cannot work: PyTorch 2.13 does not quote its own folder for the linker."""
    if " " in torch_folder:
        raise ValueError(
            f"`compile` must be off where PyTorch's own folder has a space in its name, got {torch_folder!r}. "
            "Train without it, or install into a folder without a space."
        )
