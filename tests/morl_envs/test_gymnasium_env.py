import warnings
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env

from morl_envs.cards import world_cards
from morl_envs.registration import register_all
from morl_envs.worlds import create_world
from tests.refusals import refused

register_all()
mo_gymnasium: Any = import_module("mo_gymnasium")
mo_wrappers: Any = import_module("mo_gymnasium.wrappers")
ALL = pytest.mark.parametrize("name", [card.class_name for card in world_cards()])


def make(name: str, **options: Any) -> Any:
    return gymnasium.make(f"morl_envs/{name}-v0", **options)


@ALL
def test_gymnasium_check_env(name: str) -> None:
    env = make(name, render_mode="rgb_array")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env.unwrapped)
    said = [str(warning.message) for warning in caught if "reward returned by" not in str(warning.message)]
    # The checker knows only scalar rewards; it must have nothing else to say.
    assert said == []


@ALL
def test_the_same_episode_as_the_torch_batch(name: str) -> None:
    env, batch = make(name, horizon=12), create_world(name, batch_size=[4], seed=40, horizon=12)
    env.action_space.seed(0)
    observation, _ = env.reset(seed=42)
    assert np.array_equal(observation, batch.reset_tensors()[2])
    for step in range(12):
        action = env.action_space.sample()
        one = env.step(action)
        many = batch.step_tensors(torch.as_tensor(action).expand(4, -1))
        assert np.array_equal(one[0], many[0][2])
        assert np.array_equal(one[1], many[1][2])
        assert one[1] in env.unwrapped.reward_space
        assert (one[2], one[3]) == (False, step == 11)
    observation, _ = env.reset()
    assert np.array_equal(observation, batch.reset_tensors()[2])


@ALL
def test_mo_gymnasium_wrappers(name: str) -> None:
    env = mo_gymnasium.make(f"morl_envs/{name}-v0", horizon=5)
    objectives = env.unwrapped.reward_dim
    weights = np.full(objectives, 1 / objectives)
    linear = mo_wrappers.LinearReward(env, weight=weights)
    linear.reset(seed=0)
    _, reward, _, _, info = linear.step(env.action_space.sample())
    assert reward == pytest.approx(float(info["vector_reward"] @ weights), rel=1e-6)


@ALL
def test_rgb_array_and_unseeded_environments_differ(name: str) -> None:
    env = make(name, render_mode="rgb_array")
    assert not np.array_equal(env.reset()[0], make(name).reset()[0])
    env.reset(seed=1)
    first = env.render()
    for _ in range(30):
        env.step(np.ones(env.action_space.shape, np.float32) * 0.7)
    picture = env.render()
    assert (picture.dtype, picture.shape[2]) == (np.uint8, 3)
    assert (picture != first).any()


def test_human_mode_without_a_display_and_bad_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = make("CrazyflieFormation", render_mode="human")
    env.reset(seed=0)
    env.step(env.action_space.sample())
    assert env.render() is None
    refused("`action` must be finite", env.step, np.full(6, np.nan, np.float32))
    refused("`action` must have shape", env.step, np.zeros(3, np.float32))
    env.close()
    env.close()
    refused("`horizon` must be a whole number >= 1, got 0", make, "StealthVisualSearch", horizon=0)
