import itertools
from dataclasses import replace

import pytest
import torch

from benchmarks import front_ideas
from benchmarks.front_ideas import IDEAS, sources
from morl_recipes import PPO


def test_a_walker_is_rewarded_as_the_hopper_is() -> None:
    source = sources()["high walker"]
    with source.opened(1, [0]) as env:
        env.reset_tensors()
        _, reward, _, _ = env.step_tensors(torch.zeros(1, 6))
        world = env.envs[0].unwrapped  # type: ignore[attr-defined]
        height = 10 * (world.data.qpos[1] - world.init_qpos[1])
        assert reward[0, 1].item() == pytest.approx(1.0 + height, abs=1e-5)
    assert (source.horizon, len(source.objectives)) == (1000, 2)
    for before, after in itertools.pairwise(list(IDEAS.values())[:4]):  # each adds one thing
        assert sum(before[name] != after[name] for name in before) == 1


def test_an_idea_is_trained_and_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_ideas, "ASKED", 2)
    monkeypatch.setattr(front_ideas, "EPISODES", 1)
    short = PPO(steps_per_iteration=64, epochs=1)
    monkeypatch.setattr(front_ideas, "changed", lambda recipe, how: replace(recipe, ppo=short))
    row = front_ideas.measured(sources()["half-cheetah"], "half-cheetah", "as it was", 1, 64)
    assert row["HV"] > 5_000.0
    assert (row["task"], row["idea"], row["seed"], row["steps"]) == ("half-cheetah", "as it was", 1, 64)
