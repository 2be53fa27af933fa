from importlib import import_module
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from morl_envs.cards import world_cards
from morl_envs.registration import register_all

register_all()
mo_vector: Any = import_module("mo_gymnasium.wrappers.vector")


@pytest.mark.parametrize("name", [card.class_name for card in world_cards()])
def test_the_batch_equals_mo_gymnasiums_loop(name: str) -> None:
    batch = gymnasium.make_vec(f"morl_envs/{name}-v0", num_envs=3, horizon=5)
    loop = mo_vector.MOSyncVectorEnv([lambda: gymnasium.make(f"morl_envs/{name}-v0", horizon=5) for _ in range(3)])
    assert batch.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    np.testing.assert_array_equal(batch.reset(seed=10)[0], loop.reset(seed=10)[0])
    batch.action_space.seed(0)
    for _ in range(14):
        action = batch.action_space.sample()
        for ours, theirs in zip(batch.step(action)[:4], loop.step(action)[:4], strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_terminated_environments_start_again_in_the_next_step() -> None:
    name = "morl_envs/CrazyflieFrogger-v0"
    options: dict[str, Any] = {"start_height": -0.943}
    batch = gymnasium.make_vec(name, num_envs=2, **options)
    loop = mo_vector.MOSyncVectorEnv([lambda: gymnasium.make(name, **options) for _ in range(2)])
    batch.reset(seed=0)
    loop.reset(seed=0)
    actions = [np.array([[0.0, -1.0], [0.0, a]], np.float32) for a in (-1, 0, -1, -1, -1, 0, -1)]
    ended = 0
    for action in actions:
        ours, theirs = batch.step(action)[:4], loop.step(action)[:4]
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)
        ended += int(ours[2].sum())
    assert ended >= 3


def test_episode_statistics() -> None:
    envs = mo_vector.MORecordEpisodeStatistics(
        gymnasium.make_vec("morl_envs/StealthVisualSearch-v0", num_envs=2, horizon=4)
    )
    envs.reset(seed=0)
    total = 0
    for _ in range(4):
        *_, info = (step := envs.step(envs.action_space.sample()))
        total += step[1]
    np.testing.assert_allclose(info["episode"]["r"], total, rtol=1e-6)


def test_seeds_can_be_given_one_by_one_or_left_out() -> None:
    made: Any = [gymnasium.make_vec("morl_envs/CrazyflieFrogger-v0", num_envs=2) for _ in range(3)]
    envs, other, unseeded = made
    first, _ = envs.reset(seed=[4, 4])
    np.testing.assert_array_equal(first[0], first[1])
    assert not np.array_equal(envs.reset()[0], first)
    assert not np.array_equal(other.reset()[0], unseeded.reset()[0])
