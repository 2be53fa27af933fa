from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Dict, Discrete, Graph, MultiDiscrete, Sequence, Space

from morl_envs import GymnasiumBatch
from morl_envs.gymnasium_spaces import Observations
from tests.refusals import refused

BUFFER = np.zeros(2, np.float32)


class Player(gymnasium.Env[Any, Any]):
    """Shows a given space, and pays rewards from one buffer that all players share."""

    reward_space = Box(-1.0, 1.0, (2,))
    horizon = 4

    def __init__(self, space: Space[Any] | None = None, action: Space[Any] | None = None, reward: Any = None) -> None:
        self.observation_space = space or Box(0.0, 1.0, (2,))
        self.action_space = action or Discrete(3)
        self.reward = reward

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        BUFFER[:] = action
        reward = BUFFER if self.reward is None else self.reward
        return self.observation_space.sample(), reward, False, False, {}


@pytest.mark.parametrize(
    ("space", "shape"),
    [
        (Box(0, 255, (4, 5, 3), np.uint8), (4, 5, 3)),
        (Box(-1.0, 1.0, (2, 3)), (2, 3)),
        (Box(-1.0, 1.0, ()), ()),
        (Discrete(7), (7,)),
        (Discrete(7, start=-3), (7,)),
        (Dict(where=Discrete(2), how=Box(0.0, 1.0, (3,))), (5,)),
    ],
    ids=str,
)
def test_observations_are_flat_and_say_their_shape(space: Space[Any], shape: tuple[int, ...]) -> None:
    env = GymnasiumBatch(lambda: Player(space), 2, seed=3)
    first = env.reset_tensors()
    assert env.observation_shape == shape
    assert first.shape == (2, env.observation_dim) == (2, int(np.prod(shape)))
    assert env.step_tensors(torch.zeros(2, dtype=torch.int64))[0].shape == first.shape
    if isinstance(space, Discrete):
        assert first.sum(1).tolist() == [1, 1]
    other = GymnasiumBatch(lambda: Player(space), 2, seed=3)
    other.set_state(env.get_state())
    assert env.get_state().keys() == other.get_state().keys()


def test_images_keep_their_numbers_in_c_order() -> None:
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    assert Observations(Box(0, 255, (2, 4, 3), np.uint8), "camera").flat(pixels).tolist() == list(range(24))


def test_players_that_share_a_buffer_get_their_own_rewards_finite_or_not() -> None:
    env = GymnasiumBatch(Player, 3)
    first = env.step_tensors(torch.tensor([0, 1, 2]))[1]
    second = env.step_tensors(torch.tensor([2, 0, 1]))[1]
    assert first.tolist() == [[0, 0], [1, 1], [2, 2]]
    assert second.tolist() == [[2, 2], [0, 0], [1, 1]]
    for bad in (np.nan, np.inf):
        env = GymnasiumBatch(lambda bad=bad: Player(reward=np.array([bad, 0.0])), 1)
        assert not env.step_tensors(torch.tensor([0]))[1].isfinite().all()


def test_a_function_brings_its_own_horizon_and_names() -> None:
    env = GymnasiumBatch(Player, 1)
    assert (env.horizon, env.objectives) == (4, ("objective_0", "objective_1"))

    class Named(Player):
        objectives = ("up", "down")

    limited = GymnasiumBatch(lambda: gymnasium.wrappers.TimeLimit(Named(), 9), 1)
    assert limited.objectives == ("up", "down")
    assert GymnasiumBatch(Named, 1, horizon=2, objectives=("a", "b")).objectives == ("a", "b")


def test_other_spaces_are_refused_by_name() -> None:
    continuous = Box(-np.inf, np.inf, (2,))
    refused("bounded flat Box .*, got .*MultiDiscrete", GymnasiumBatch, lambda: Player(action=MultiDiscrete([2, 3])), 1)
    refused("bounded flat Box actions", GymnasiumBatch, lambda: Player(action=continuous), 1)
    for space in (Sequence(Discrete(2)), Graph(Discrete(2), None)):
        refused("`env` must have observations of a fixed size", GymnasiumBatch, lambda space=space: Player(space), 1)


def test_rewards_must_be_vectors_and_observations_keep_their_size() -> None:
    class Flat(Player):
        reward_space = Box(-1.0, 1.0, ())

    refused("`env` must have a flat Box as `reward_space`, got Flat with", GymnasiumBatch, Flat, 1)
    env = GymnasiumBatch(lambda: Player(reward=1.0), 1)
    refused(r"`reward` must hold 2 numbers in <lambda>, got shape \(\)", env.step_tensors, torch.tensor([0]))
    env = GymnasiumBatch(Player, 1)
    env.reset_tensors()
    env.envs[0].observation_space = Box(0.0, 1.0, (5,))
    refused("`observation` must hold 2 numbers in Player, got 5", env.step_tensors, torch.tensor([0]))
