"""Settings shared by every test: one thread, and the same hypothesis examples on every machine."""

import os
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
import torch

torch.set_num_threads(1)
# The clusters of the tests listen on the loopback address only. Ray reads this once, and many packages import Ray.
os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
if find_spec("hypothesis") is not None:  # the tests of the blocks run without it, too
    from hypothesis import settings

    settings.register_profile("house", deadline=None, derandomize=True, max_examples=60)
    settings.load_profile("house")


@pytest.fixture
def double_default() -> Iterator[None]:
    """Make float64 the default dtype during a test."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def pytest_addoption(parser: pytest.Parser) -> None:
    if find_spec("pytest_timeout") is None:
        parser.addini("timeout", "Seconds per test, for pytest-timeout where it is installed.")
