from dataclasses import replace

import pytest

from benchmarks import front_ideas
from benchmarks.front_ideas import sources
from morl_recipes import PPO


def test_an_idea_is_trained_and_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_ideas, "ASKED", 2)
    monkeypatch.setattr(front_ideas, "EPISODES", 1)
    short = PPO(steps_per_iteration=64, epochs=1)
    monkeypatch.setattr(front_ideas, "changed", lambda recipe, how: replace(recipe, ppo=short))
    row = front_ideas.measured(sources()["half-cheetah"], "half-cheetah", "as it was", 1, 64)
    assert row["HV"] > 5_000.0
    assert (row["task"], row["idea"], row["seed"], row["steps"]) == ("half-cheetah", "as it was", 1, 64)
