"""Benchmarks that train, made short."""

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import pytest

from morl_recipes import PPO

Shorten = Callable[[ModuleType], None]


@pytest.fixture
def shorten(monkeypatch: pytest.MonkeyPatch) -> Shorten:
    """Give every method of a benchmark iterations of 64 steps and one epoch."""
    ppo = PPO(steps_per_iteration=64, epochs=1)

    def short(benchmark: ModuleType) -> None:
        methods = {name: replace(recipe, ppo=ppo) for name, recipe in benchmark.METHODS.items()}
        monkeypatch.setattr(benchmark, "METHODS", methods)

    return short
