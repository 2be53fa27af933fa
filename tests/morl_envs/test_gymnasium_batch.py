import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from morl_envs import CARDS, GymnasiumBatch, make_batch
from tests.morl_envs.playing import assert_alike, commands
from tests.refusals import refused

TREASURE = "deep-sea-treasure-v0"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_mujoco_state_continues_bit_for_bit() -> None:
    env, other = (GymnasiumBatch("mo-humanoid-v5", 2, seed=seed, horizon=9) for seed in (7, 0))
    for action in commands(env, 4):
        env.step_tensors(action)
    other.set_state(env.get_state())
    assert_alike(env, other, commands(env, 12, seed=1))
    env.close()
    other.close()


def test_truncation_keeps_the_final_observation_and_reset_by_mask() -> None:
    env = GymnasiumBatch(TREASURE, 3, horizon=2)
    env.reset_tensors()
    right = torch.full((3,), 3)
    env.step_tensors(right)
    observation, _, terminated, truncated = env.step_tensors(right)
    assert truncated.all()
    assert not terminated.any()
    assert observation.tolist() == [[0, 2]] * 3
    after = env.reset_tensors(torch.tensor([True, False, False]))
    assert after.tolist() == [[0, 0], [0, 2], [0, 2]]
    last = GymnasiumBatch(TREASURE, 1, horizon=1)  # a termination in the last step is not a truncation
    _, reward, terminated, truncated = last.step_tensors(torch.tensor([1]))
    assert (bool(terminated), bool(truncated)) == (True, False)
    assert reward[0].tolist() == pytest.approx([0.7, -1.0])
    refused("`state` must have the shapes", last.set_state, env.get_state())
    refused("`state` must have the shapes", last.set_state, {})


@pytest.mark.filterwarnings("ignore:.*precision lowered.*:UserWarning")
def test_bad_environments_and_actions() -> None:
    refused("`env` must have a vector reward, got 'CliffWalking-v1'", GymnasiumBatch, "CliffWalking-v1", 1, horizon=5)
    refused("`horizon` must be a whole number >= 1, got 0", GymnasiumBatch, TREASURE, 1, horizon=0)
    refused("`objectives` must name the 2 objectives", GymnasiumBatch, TREASURE, 1, objectives=("one",))
    refused("`horizon` must be given", GymnasiumBatch, "fruit-tree-v0", 1)
    refused("Gambler has no time limit", GymnasiumBatch, Gambler, 1)
    cheetah = GymnasiumBatch("mo-halfcheetah-v5", 1)
    refused("`action` must be finite", cheetah.step_tensors, torch.full((1, 6), torch.nan))
    refused(r"`action` must have shape \[1, 6\]", cheetah.step_tensors, torch.zeros(1, 5))


@pytest.mark.parametrize("name", ["terminated", "truncated"])
def test_flag_that_is_no_bool_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    env = GymnasiumBatch(Gambler, 1, horizon=5)
    env.reset_tensors()
    flags: dict[str, Any] = {"terminated": False, "truncated": False, name: "no"}  # which counts as true
    monkeypatch.setattr(env.envs[0], "step", lambda action: (np.zeros(1), np.zeros(2), *flags.values(), {}))
    refused(f"`{name}` must be a bool in .*Gambler, got 'no'", env.step_tensors, torch.zeros(1, dtype=torch.long))


class Gambler(gymnasium.Env[Any, Any]):
    """Draws from NumPy's global generator, as some environments of MO-Gymnasium do."""

    observation_space = gymnasium.spaces.Box(0.0, 1.0, (1,))
    action_space = gymnasium.spaces.Discrete(2)
    reward_space = gymnasium.spaces.Box(0.0, 1.0, (2,))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        return np.zeros(1, np.float32), np.random.rand(2), False, False, {}  # noqa: NPY002 - the point


def test_draws_from_the_global_generator_warn_once() -> None:
    gymnasium.register("Gambler-v0", f"{__name__}:Gambler", max_episode_steps=50)
    env = GymnasiumBatch("Gambler-v0", 2)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(40):
            env.step_tensors(torch.zeros(2, dtype=torch.int64))
    assert [str(w.message).split(",")[0] for w in seen] == ["Gambler-v0 draws from NumPy's global random generator"]


def test_codes_become_one_hot_vectors() -> None:
    env = make_batch("fruit-tree-v0", 1)
    assert env.observation_dim == CARDS["fruit-tree-v0"].observation_dim == 7 + 64
    assert env.reset_tensors()[0].nonzero().flatten().tolist() == [0, 7]
    seen = env.step_tensors(torch.tensor([1]))[0]  # down to the right: row 1, index 1
    assert seen[0].nonzero().flatten().tolist() == [1, 8]
    raw = make_batch("fruit-tree-v0", 1, values=None)
    assert raw.reset_tensors().tolist() == [[0.0, 0.0]]
    refused("`values` must have one count per number", GymnasiumBatch, "fruit-tree-v0", 1, horizon=6, values=(7,))
