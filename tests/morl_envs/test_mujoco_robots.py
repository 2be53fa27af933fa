from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from morl_envs import GymnasiumBatch
from morl_envs.counter_rng import episode_key
from morl_envs.mujoco_robots import ROBOTS

ROBOT_NAMES = ("halfcheetah", "swimmer", "hopper", "walker2d", "ant", "humanoid")
IDS = [f"mo-{name}-v{version}" for name in ROBOT_NAMES for version in (4, 5)]
IDS += ["mo-hopper-2d-v4", "mo-hopper-2obj-v5", "mo-ant-2d-v4", "mo-ant-2obj-v5"]
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*out of date.*")


def episode_seed(seed: int, episode: int) -> int:
    return int(episode_key(torch.tensor(seed), torch.tensor(episode))) & (2**62 - 1)


def assert_equal_to_gymnasium(env: GymnasiumBatch, plain: list[Any], steps: int) -> int:
    """Play the same actions, compare every bit, and return how many episodes ended in a fall."""
    random, falls, episodes = np.random.default_rng(3), 0, [1] * env.num_envs
    assert env.action_high is not None
    seen = env.reset_tensors().numpy()
    for row, one in enumerate(plain):
        np.testing.assert_array_equal(seen[row], one.reset(seed=episode_seed(7 + row, 0))[0].astype(np.float32))
    for step in range(steps):
        size = (0.2, 0.6, 1.5)[step // 50 % 3]  # some falls, some longer episodes, some clipped actions
        action = size * env.action_high * torch.from_numpy(random.normal(size=(env.num_envs, env.action_dim))).float()
        results = [each.numpy() for each in env.step_tensors(action)]
        for row, one in enumerate(plain):
            expected = one.step(action[row].clamp(-env.action_high, env.action_high).numpy())
            np.testing.assert_array_equal(results[0][row], expected[0].astype(np.float32))
            np.testing.assert_array_equal(results[1][row], np.asarray(expected[1], np.float32))
            assert (bool(results[2][row]), bool(results[3][row])) == (expected[2], expected[3] and not expected[2])
        done = results[2][:, 0] | results[3][:, 0]
        falls += int(results[2].sum())
        seen = env.reset_tensors(torch.from_numpy(done)).numpy()
        for row in np.flatnonzero(done).tolist():
            first = plain[row].reset(seed=episode_seed(7 + row, episodes[row]))[0]
            np.testing.assert_array_equal(seen[row], first.astype(np.float32))
            episodes[row] += 1
    return falls


@pytest.mark.parametrize("name", IDS)
def test_robots_equal_mo_gymnasium_for_a_thousand_steps_with_resets(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    env = GymnasiumBatch(name, 2, seed=7, horizon=150)
    for one in env.envs:
        monkeypatch.setattr(one, "step", None)  # which would be the slow way
    plain = [gymnasium.make(name, max_episode_steps=150, disable_env_checker=True) for _ in range(2)]
    falls = assert_equal_to_gymnasium(env, plain, 500)
    assert (falls > 0) == ("cheetah" not in name and "swimmer" not in name)


@pytest.mark.parametrize("options", [{"reset_noise_scale": 0.3}, {"exclude_current_positions_from_observation": False}])
def test_robots_with_options_equal_mo_gymnasium(options: dict[str, Any]) -> None:
    name, entry = f"{next(iter(options))}-v0", "mo_gymnasium.envs.mujoco.hopper_v5:MOHopperEnv"
    gymnasium.register(name, entry_point=entry, max_episode_steps=30, kwargs=options)
    for env in (GymnasiumBatch(name, 1, seed=7), GymnasiumBatch("mo-hopper-v5", 1, seed=7, horizon=30, **options)):
        assert_equal_to_gymnasium(env, [gymnasium.make(name, disable_env_checker=True)], 60)


def test_every_robot_is_tested() -> None:
    tested = {name.removeprefix("mo-").replace("halfcheetah", "half_cheetah").replace("-", "_") for name in IDS}
    assert tested >= set(ROBOTS)
