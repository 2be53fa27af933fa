import pytest
import torch

from morl_envs.cards import CARDS
from morl_recipes.envs import EnvSource, find_source
from morl_recipes.toy import ToyBatch, toy


def test_names_and_cards_find_their_bounds() -> None:
    for env in ("stealth", CARDS["stealth"]):
        source = find_source(env)
        assert source.name == "stealth"
        assert source.hv_low == CARDS["stealth"].hv_low
        assert not source.normalize_observations
    assert find_source("mo-halfcheetah-v5").normalize_observations


def test_registered_environments_need_no_card() -> None:
    source = find_source("mo-mountaincar-v0")
    assert source.hv_low is None
    assert source.make(2, [0, 1]).reset_tensors().shape == (2, 2)


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"must be a known environment, got 'stelth'. Nearest: stealth"):
        find_source("stelth")


def test_sources_and_functions_pass() -> None:
    source = toy()
    assert find_source(source) is source
    assert find_source(ToyBatch).name == "ToyBatch"
    assert isinstance(find_source(lambda n, s: ToyBatch(n, s)), EnvSource)


def test_toy_world_pays_the_printed_reward_and_ends_at_its_horizon() -> None:
    env = ToyBatch(2, [0, 1], horizon=3)
    env.reset_tensors()
    for step in range(1, 4):
        _, reward, terminated, truncated = env.step_tensors(torch.tensor([[1.0, 0.0], [0.0, 0.0]]))
        assert reward.tolist() == [[1.0, 0.5], [0.75, 0.75]]
        assert truncated.flatten().tolist() == [step == 3] * 2
        assert not terminated.any()
    assert env.reset_tensors(torch.tensor([[True], [False]]))[:, -1].tolist() == [0.0, 1.0]


def test_toy_world_continues_from_its_state() -> None:
    env, other = ToyBatch(2, [0, 1]), ToyBatch(2, [5, 6])
    env.step_tensors(torch.zeros(2, 2))
    other.set_state(env.get_state())
    assert torch.equal(env.step_tensors(torch.zeros(2, 2))[0], other.step_tensors(torch.zeros(2, 2))[0])


def test_toy_world_checks_its_sizes() -> None:
    with pytest.raises(ValueError, match="`seeds` must hold 2 numbers, got 1"):
        ToyBatch(2, [0])
    with pytest.raises(ValueError, match="`action_dim` must be at least the number of objectives"):
        ToyBatch(1, [0], objectives=3)
