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


def _guard(name: str, *, is_global: bool = True) -> SimpleNamespace:
    return SimpleNamespace(name=name, is_global=is_global)


@pytest.mark.parametrize("package", ["torch_dot_nn", "morl_blocks_dot_combiners", "morl_recipes_dot_learning"])
def test_what_packages_define_is_not_looked_at_in_every_step(package: str) -> None:
    assert lasting_guards([_guard(f"G['__import_{package}'].something")]) == [False]
    assert lasting_guards([_guard("G['__builtins_dict___0']['len']")]) == [False]


def test_everything_else_is_looked_at() -> None:
    named = [
        _guard("G['helper']"),
        _guard("G['__import_my_blocks'].helper"),
        _guard("L['self'].actor", is_global=False),
    ]
    assert lasting_guards(named) == [True] * 3


def test_a_function_that_is_defined_anew_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    step = Fused(_step, torch.device("cpu"), choice=True)
    x = torch.ones(3)
    step(x)
    monkeypatch.setitem(globals(), "helper", lambda x: 10 * x)
    step(x)
    assert x.tolist() == [33.0] * 3  # 1 + 2, then 3 + 30


def test_other_shapes_are_noticed() -> None:
    step = Fused(_step, torch.device("cpu"), choice=True)
    for size in (2, 5):
        x = torch.ones(size)
        step(x)
        assert x.tolist() == [3.0] * size


def test_compiling_pays_for_long_trainings_alone() -> None:
    assert pays(True, 1, 1, batched=True)
    assert not pays(True, 10**9, 1, batched=False)
    assert not pays("auto", 10, 1, batched=True)
