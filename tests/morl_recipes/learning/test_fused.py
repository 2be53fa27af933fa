"""A compiled step is compiled again for what has changed."""

import pytest
import torch
from torch import Tensor

from morl_recipes.learning.compiling import Fused


def _double(x: Tensor) -> Tensor:
    return 2 * x


helper = _double
"""A global of somebody's own file, which she may define anew between two trainings."""


def _step(x: Tensor) -> None:
    x.add_(helper(x))


def test_other_shapes_and_a_function_that_is_defined_anew_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    step = Fused(_step, torch.device("cpu"), choice=True)
    for size in (2, 5):
        x = torch.ones(size)
        step(x)
        assert x.tolist() == [3.0] * size
    monkeypatch.setitem(globals(), "helper", lambda x: 10 * x)
    step(x)
    assert x.tolist() == [33.0] * 5
