import math

import pytest
import torch
from torch import Tensor

from morl_blocks.llm import group_advantage, group_normalize, reward_attention
from morl_blocks.scalarizers import Linear, Scalarizer, SmoothTchebycheff, Tchebycheff
from tests.refusals import refused

WEIGHTS = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)


def batch(seed: int = 0, groups: int = 4, size: int = 8) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    rewards = torch.rand(groups * size, 3, generator=generator, dtype=torch.float64)
    return rewards, torch.arange(groups).repeat_interleave(size)


def gdpo(rewards: Tensor, size: int, weights: Tensor) -> Tensor:
    """The formulas of arXiv:2601.05242, (4) to (6), with 1e-4 beside each standard deviation as in TRL."""
    grouped = rewards.reshape(-1, size, rewards.shape[-1])
    each = (grouped - grouped.mean(1, keepdim=True)) / (grouped.std(1, keepdim=True) + 1e-4)
    total = (each * weights).sum(-1).flatten()
    return (total - total.mean()) / (total.std() + 1e-4)


def test_linear_is_gdpo() -> None:
    for seed in range(5):
        rewards, groups = batch(seed)
        expected = gdpo(rewards, 8, WEIGHTS)
        torch.testing.assert_close(group_advantage(rewards, groups, Linear(), WEIGHTS), expected, rtol=0, atol=1e-12)
        single = group_advantage(rewards.float(), groups, Linear(), WEIGHTS.float())
        torch.testing.assert_close(single.double(), expected, rtol=0, atol=1e-6)


def test_order_of_operations_and_the_reward_that_lags_decides() -> None:
    rewards, groups = batch()
    scalarizer = SmoothTchebycheff(0.05)
    attention = scalarizer.attention(rewards.mean(0), WEIGHTS)
    total = (group_normalize(rewards, groups) * attention).sum(-1)
    expected = (total - total.mean()) / (total.std() + 1e-4)
    torch.testing.assert_close(group_advantage(rewards, groups, scalarizer, WEIGHTS), expected)
    levels, third = torch.tensor([0.9, 0.1, 0.9]), torch.full((3,), 1 / 3)
    alone = group_advantage(rewards, groups, Linear(), torch.tensor([0.0, 1.0, 0.0]))
    torch.testing.assert_close(group_advantage(rewards, groups, Tchebycheff(), third, levels=levels), alone)


@pytest.mark.parametrize("scalarizer", [Linear(), SmoothTchebycheff(0.1)], ids=["linear", "stch"])
def test_order_of_rewards_and_completions_does_not_matter_and_batches_stay_apart(scalarizer: Scalarizer) -> None:
    rewards, groups = batch()
    expected = group_advantage(rewards, groups, scalarizer, WEIGHTS)
    rows, columns = torch.randperm(len(rewards), generator=torch.Generator().manual_seed(1)), torch.tensor([2, 0, 1])
    mixed = group_advantage(rewards[rows][:, columns], groups[rows] + 10, scalarizer, WEIGHTS[columns])
    torch.testing.assert_close(mixed, expected[rows])
    together = group_advantage(torch.stack([batch(1)[0], rewards]), groups, scalarizer, WEIGHTS)
    assert together.shape == (2, 32)
    torch.testing.assert_close(together[1], expected)


def test_groups_of_one_and_constant_rewards_add_nothing() -> None:
    rewards, _ = batch()
    assert group_advantage(rewards, torch.arange(32), Linear(), WEIGHTS).eq(0).all()
    assert group_advantage(torch.full((32, 3), 0.1), torch.arange(32) // 8, Linear(), WEIGHTS.float()).eq(0).all()
    assert group_advantage(rewards[:1], torch.tensor([3]), Linear(), WEIGHTS).eq(0).all()


def test_nan_rewards_stay_out() -> None:
    (rewards, groups), scalarizer = batch(), SmoothTchebycheff(0.1)
    lacking = rewards.clone()
    lacking[:, 1] = math.nan  # a reward that the batch lacks gets no attention
    two = group_advantage(rewards[:, [0, 2]], groups, scalarizer, torch.tensor([5 / 7, 2 / 7]))
    torch.testing.assert_close(group_advantage(lacking, groups, scalarizer, WEIGHTS), two)
    assert group_advantage(lacking * math.nan, groups, scalarizer, WEIGHTS).eq(0).all()
    rewards[3, 1] = math.nan
    rewards[7] = math.nan
    advantage = group_advantage(rewards, groups, scalarizer, WEIGHTS)
    assert advantage.isfinite().all()
    assert advantage[7] == 0
    kept = torch.arange(32) != 7  # a completion without any reward: as if it were not there
    torch.testing.assert_close(group_advantage(rewards[kept], groups[kept], scalarizer, WEIGHTS), advantage[kept])


def test_bad_input() -> None:
    rewards, groups, even = torch.rand(4, 2), torch.tensor([0, 0, 1, 1]), torch.tensor([0.5, 0.5])
    refused("`rewards` must have at least 2 obj", group_advantage, torch.zeros(4, 1), groups, Linear(), torch.ones(1))
    refused("`groups` must hold one id per", group_advantage, rewards, groups[:3], Linear(), even)
    refused("`weights` must have 2 objectives", group_advantage, rewards, groups, Linear(), WEIGHTS.float())
    refused("`weights` must sum to 1", group_advantage, rewards, groups, Linear(), 2 * even)
    refused("`levels` must have 2 objectives", group_advantage, rewards, groups, Linear(), even, levels=torch.zeros(3))
    refused("`scalarizer` must be one to maximise", group_advantage, rewards, groups, Linear(sense="min"), even)
    refused("`scalarizer` must be a Scalarizer", group_advantage, rewards, groups, "stch", even)


def test_attention_of_unknown_levels() -> None:
    nan, weights = math.nan, torch.tensor([0.5, 0.5, 0.0])
    assert reward_attention(torch.tensor([nan, nan, 0.5]), Tchebycheff(), weights).eq(0).all()
    torch.testing.assert_close(
        reward_attention(torch.tensor([nan, 0.3, 0.5]), Tchebycheff(), weights), torch.tensor([0.0, 1.0, 0.0])
    )
    rows, even = torch.tensor([[nan, 0.3, 0.5], [0.2, nan, 0.9], [nan, nan, nan]]), torch.tensor([0.5, 0.3, 0.2])
    alone = torch.stack([reward_attention(row, SmoothTchebycheff(0.1), even) for row in rows])
    torch.testing.assert_close(reward_attention(rows, SmoothTchebycheff(0.1), even), alone)
    refused("`weights` must sum to 1", reward_attention, torch.tensor([nan, 0.3, 0.5]), Tchebycheff(), torch.ones(3))
