"""Bad input is refused by name: one line per case."""

from collections.abc import Callable
from typing import Any

import pytest


def refused(message: str, call: Callable[..., object], *args: Any, **options: Any) -> None:
    """Require a ``ValueError`` whose text matches ``message``."""
    with pytest.raises(ValueError, match=message):
        call(*args, **options)


def store_refused(message: str, call: Callable[..., object], *args: Any, **options: Any) -> None:
    """Require a ``StoreError`` whose text matches ``message``."""
    from morl_recipes.common.errors import StoreError  # the tests of the blocks run without morl_recipes

    with pytest.raises(StoreError, match=message):
        call(*args, **options)
