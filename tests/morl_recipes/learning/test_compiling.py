"""Tests of the compiled step: when it pays, and what it looks at before every call."""

from types import SimpleNamespace

import pytest
import torch
from torch import Tensor

from morl_recipes.learning.compiling import Fused, lasting_guards, pays


def _double(x: Tensor) -> Tensor:
    return 2 * x


helper = _double
"""A global of somebody's own file, which she may define anew between two trainings."""


def _step(x: Tensor) -> None:
    x.add_(helper(x))


@pytest.mark.parametrize(
    ("name", "is_global", "kept"),
    [
        ("G['__import_torch_dot_nn'].something", True, False),
        ("G['__import_morl_blocks_dot_combiners'].something", True, False),
        ("G['__import_morl_recipes_dot_learning'].something", True, False),
        ("G['__builtins_dict___0']['len']", True, False),
        ("G['helper']", True, True),
        ("G['__import_my_blocks'].helper", True, True),
        ("L['self'].actor", False, True),
    ],
)
def test_only_definitions_of_packages_are_not_checked_in_every_step(name: str, is_global: bool, kept: bool) -> None:
    assert lasting_guards([SimpleNamespace(name=name, is_global=is_global)]) == [kept]


def test_other_shapes_and_a_function_that_is_defined_anew_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    step = Fused(_step, torch.device("cpu"), choice=True)
    for size in (2, 5):
        x = torch.ones(size)
        step(x)
        assert x.tolist() == [3.0] * size
    monkeypatch.setitem(globals(), "helper", lambda x: 10 * x)
    step(x)
    assert x.tolist() == [33.0] * 5


def test_compiling_pays_for_long_trainings_alone() -> None:
    assert pays(True, 1, 1, batched=True)
    assert not pays(True, 10**9, 1, batched=False)
    assert not pays("auto", 10, 1, batched=True)
