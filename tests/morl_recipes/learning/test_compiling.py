"""Tests of the compiled step: when it pays, and what it looks at before every call."""

from types import SimpleNamespace
from typing import Any

import pytest

from morl_recipes.learning.batch import Batch
from morl_recipes.learning.compiling import Fused, lasting_guards, pays


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


def test_compiling_pays_for_long_trainings_alone() -> None:
    assert pays(True, 1, 1, batched=True)
    assert not pays(True, 10**9, 1, batched=False)
    assert not pays("auto", 10, 1, batched=True)


def test_batch_is_compiled_only_while_every_part_of_it_is() -> None:
    steps = [object.__new__(Fused) for _ in range(2)]
    for step in steps:
        vars(step).update(eager=len, call=abs)
    batch: Any = SimpleNamespace(_fuse=True, _updates=dict(enumerate(SimpleNamespace(step=step) for step in steps)))
    compiled: Any = Batch.compiled
    assert compiled.fget(batch)
    vars(steps[1])["call"] = len  # it fell back
    assert not compiled.fget(batch)
