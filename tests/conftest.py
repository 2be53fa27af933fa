"""Settings shared by every test: one thread, and the same hypothesis examples on every machine."""

from importlib.util import find_spec

import pytest
import torch

torch.set_num_threads(1)
if find_spec("hypothesis") is not None:  # the tests of the blocks run without it, too
    from hypothesis import settings

    settings.register_profile("house", deadline=None, derandomize=True, max_examples=60)
    settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    if find_spec("pytest_timeout") is None:
        parser.addini("timeout", "Seconds per test, for pytest-timeout where it is installed.")
