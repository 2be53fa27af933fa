import math
from typing import Any

import numpy as np
import pytest
import torch
from torchrl.envs.utils import check_env_specs

from morl_envs import TensorEnv
from morl_envs._checks import seeds
from morl_envs.cards import world_cards
from morl_envs.worlds import create_world
from tests.morl_envs.playing import assert_alike, commands
from tests.refusals import refused

FROGGER = "CrazyflieFrogger"
ALL = pytest.mark.parametrize("world", [card.class_name for card in world_cards()])


@ALL
@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_specs(world: str, count: int) -> None:
    env = create_world(world, batch_size=[count])
    check_env_specs(env, seed=0, break_when_any_done="both")


@ALL
def test_rollout_resets_by_itself_and_keeps_the_final_observation(world: str) -> None:
    env = create_world(world, batch_size=[3], horizon=5)
    data = env.rollout(12, break_when_any_done=False)
    assert data.shape == (3, 12)
    done = data["next", "done"][..., 0]
    assert done.nonzero()[:, 1].unique().tolist() == [4, 9]
    assert data["next", "truncated"].sum() == 6
    assert data["next", "terminated"].sum() == 0
    moved = (data["observation"][:, 5] != data["next", "observation"][:, 4]).any(-1)
    assert moved.all()  # the new episode does not overwrite the end of the old one
    assert torch.equal(data["observation"][:, 1], data["next", "observation"][:, 0])


@ALL
def test_an_environment_plays_the_same_episodes_in_any_batch(world: str) -> None:
    many, one = create_world(world, batch_size=[64], seed=100, horizon=30), create_world(world, seed=117, horizon=30)
    actions = commands(many, 70)
    pairs = [(many.reset_tensors(), one.reset_tensors())]
    for action in actions:
        a, b = many.step_tensors(action), one.step_tensors(action[17:18])
        pairs += zip(a, b, strict=True)
        done = a[2] | a[3]
        if done[17]:
            pairs.append((many.reset_tensors(done), one.reset_tensors()))
        elif done.any():
            many.reset_tensors(done)
    assert all(torch.equal(a[17], b[0]) for a, b in pairs)
    assert int(one.get_state()["episode"]) >= 3


@ALL
def test_a_masked_reset_leaves_the_others_bit_identical(world: str) -> None:
    env = create_world(world, batch_size=[6])
    for action in commands(env, 4):
        env.step_tensors(action)
    mask = torch.tensor([True, False, False, True, False, False])
    before, observed = env.get_state(), env.observation()
    after, state = env.reset_tensors(mask), env.get_state()
    assert all(torch.equal(before[name][~mask], state[name][~mask]) for name in state)
    assert torch.equal(observed[~mask], after[~mask])
    assert (observed[mask] != after[mask]).any(-1).all()
    assert state["episode"].tolist() == [2, 1, 1, 2, 1, 1]
    root = env.rollout(3)[:, -1]["next"].exclude("reward")  # TorchRL's mask
    root["_reset"], observed = mask.unsqueeze(-1), env.observation()
    assert torch.equal((env.reset(root)["observation"] != observed).any(-1), mask)


@ALL
def test_a_state_continues_bit_for_bit_across_episodes(world: str) -> None:
    env = create_world(world, batch_size=[5], seed=3, horizon=9)
    for action in commands(env, 4):
        env.step_tensors(action)
    saved = env.get_state()
    other = create_world(world, batch_size=[5], seed=999, horizon=9)
    other.set_state(saved)
    assert torch.equal(env.observation(), other.observation())
    assert_alike(env, other, commands(env, 20, seed=1))


@ALL
def test_seeds(world: str) -> None:
    env = create_world(world, batch_size=[3], seed=[5, 5, 6])
    first, second = env.reset_tensors(), env.reset_tensors()
    assert torch.equal(first[0], first[1])
    assert not torch.equal(first[0], first[2])
    assert not torch.equal(first, second)
    env.seed_each([5, 5, 6])
    assert torch.equal(env.reset_tensors(), first)
    env.set_seed(5)
    assert torch.equal(env.reset_tensors()[0], first[0])
    others: tuple[Any, ...] = (np.int64(7), np.uint8(7), torch.tensor(7), np.array([7, 8]), [np.int32(7), 8])
    for seed in others:
        assert torch.equal(seeds(seed, 2), torch.tensor([7, 8]))


@ALL
def test_observations_and_rewards_stay_in_their_bounds(world: str) -> None:
    env = create_world(world, batch_size=[50], horizon=300)
    bounds = env.bounds()
    observation = env.reset_tensors()
    reward = torch.zeros(50, len(env.objectives))
    for action in commands(env, 300).sign():
        for value, low, high in (
            (observation, bounds.observation_low, bounds.observation_high),
            (reward, bounds.reward_low, bounds.reward_high),
        ):
            assert (value >= torch.tensor(low) - 1e-6).all()
            assert (value <= torch.tensor(high) + 1e-6).all()
        observation, reward, terminated, truncated = env.step_tensors(action)
        if (terminated | truncated).any():
            observation = env.reset_tensors(terminated | truncated)


@ALL
def test_bad_actions_change_nothing(world: str) -> None:
    env = create_world(world, batch_size=[3])
    before, good = env.get_state(), torch.zeros(3, env.action_dim)
    refused("`action` must be finite, got nan", env.step_tensors, good + math.nan)
    refused("`action` must be finite, got inf", env.step_tensors, good + math.inf)
    refused("`action` must have shape", env.step_tensors, good[:, :1])
    refused("`action` must have shape", env.step_tensors, good[:2])
    after = env.get_state()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_bad_batches_seeds_masks_and_states() -> None:
    refused(r"`batch_size` must be \[N\] with N >= 1, got \[0\]", create_world, FROGGER, batch_size=[0])
    refused(r"`batch_size` must be \[N\]", create_world, FROGGER, batch_size=[2, 3])
    refused("`seed` must be a whole number or 2", create_world, FROGGER, batch_size=[2], seed=[1, 2, 3])
    refused("`seed` must be >= 0, got -1", create_world, FROGGER, batch_size=[2], seed=[1, -1])
    refused(r"`seed` must lie in \[0, 2\*\*62\)", create_world, FROGGER, seed=-1)
    for wrong in ([0.2, 0.9], 0.5, torch.rand(2), [True, False], "7", None):
        refused("`seed` must be a whole number or 2", create_world, FROGGER, batch_size=[2], seed=wrong)
    env = create_world(FROGGER, batch_size=[2])
    env.reset_tensors()
    refused("`mask` must be bool", env.reset_tensors, torch.ones(2))
    refused("`state` must have the keys", env.set_state, {"seed": torch.zeros(2)})
    refused(r"`state\['goal'\]` must have shape", env.set_state, {**env.get_state(), "goal": torch.zeros(3, 2)})
    refused("`world` must be one of", create_world, "Atlantis")
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        create_world(FROGGER, colour="red")


@ALL
def test_the_default_type_of_numbers_changes_nothing(world: str) -> None:
    def play(env: TensorEnv, action: torch.Tensor) -> list[torch.Tensor]:
        results = env.step_tensors(action)
        return [*results, env.reset_tensors(results[2] | results[3]), *env.get_state().values()]

    env, other = (create_world(world, batch_size=[8], seed=4, horizon=5) for _ in range(2))
    for action in commands(env, 12):
        expected = play(env, action)
        torch.set_default_dtype(torch.float64)
        try:
            found = play(other, action)
        finally:
            torch.set_default_dtype(torch.float32)
        assert all(a.dtype == b.dtype and torch.equal(a, b) for a, b in zip(expected, found, strict=True))
