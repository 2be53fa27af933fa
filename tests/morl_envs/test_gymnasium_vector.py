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


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((card.class_name, {"horizon": 5}) for card in world_cards()),
        ("CrazyflieFrogger", {"start_height": -0.943}),  # where episodes terminate after a few steps
    ],
)
def test_the_batch_equals_mo_gymnasiums_loop_across_ends_of_episodes(name: str, options: Any) -> None:
    batch = gymnasium.make_vec(f"morl_envs/{name}-v0", num_envs=3, **options)
    loop = mo_vector.MOSyncVectorEnv([lambda: gymnasium.make(f"morl_envs/{name}-v0", **options) for _ in range(3)])
    assert batch.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    np.testing.assert_array_equal(batch.reset(seed=10)[0], loop.reset(seed=10)[0])
    batch.action_space.seed(0)
    ended = 0
    for _ in range(40):
        action = batch.action_space.sample()
        action[:, -1] = -1.0  # leaves the arena of frogger
        found = batch.step(action)[:4]
        for ours, theirs in zip(found, loop.step(action)[:4], strict=True):
            np.testing.assert_array_equal(ours, theirs)
        ended += int((found[2] | found[3]).sum())
    assert ended >= 3


def test_seeds_can_be_given_one_by_one_or_left_out() -> None:
    made: Any = [gymnasium.make_vec("morl_envs/CrazyflieFrogger-v0", num_envs=2) for _ in range(4)]
    envs, twin, other, unseeded = made
    first, _ = envs.reset(seed=[4, 4])
    np.testing.assert_array_equal(first[0], first[1])
    np.testing.assert_array_equal(twin.reset(seed=[4, 4])[0], first)
    second = envs.reset()[0]
    assert not np.array_equal(second, first)
    np.testing.assert_array_equal(twin.reset()[0], second)
    assert not np.array_equal(other.reset()[0], unseeded.reset()[0])
