import torch

from morl_blocks.llm import reward_conflict


def test_closed_forms() -> None:
    up = torch.linspace(0, 1, 4)
    groups = torch.zeros(4, dtype=torch.long)
    assert reward_conflict(torch.stack([up, 2 * up], -1), groups) == 0
    assert reward_conflict(torch.stack([up, -up], -1), groups) == 1
    assert reward_conflict(torch.stack([up, -up, 3 * up], -1), groups) == torch.tensor(2 / 3)
    assert reward_conflict(torch.stack([up, torch.full_like(up, torch.nan)], -1), groups) == 0


def test_differences_between_groups_do_not_count() -> None:
    rewards = torch.tensor([[0.0, 9.0], [1.0, 10.0], [9.0, 0.0], [10.0, 1.0]])
    assert reward_conflict(rewards, torch.tensor([0, 0, 1, 1])) == 0
    assert reward_conflict(rewards, torch.tensor([0, 0, 0, 0])) == 1
