import pytest
import torch

from morl_envs.stealth import rewards

VISION = torch.tensor([[0.5, 0.0, 0.25, 0.0, 1.0, 0.0]])


def test_search_score_and_exploration() -> None:
    for found, targets, score in ((2, 5, 20.0875), (2, 1, 10.0), (0, 5, 0.0875)):
        assert float(rewards.search_score(torch.tensor([found]), VISION, targets)) == pytest.approx(score)
    for end, expected in (((0.03, 0.04), 0.1), ((0.05, 0.0), 0.1), ((0.6, 0.0), 1.0)):
        assert float(rewards.exploration(torch.zeros(1, 2), torch.tensor([end]))) == pytest.approx(expected)


def test_stealth() -> None:
    position = torch.tensor([[0.0, 0.0], [0.4, 0.1], [-0.4, 0.7], [0.9, 0.0], [0.4, 0.1], [0.9, 0.0]])
    collided = torch.tensor([False, False, False, False, True, True])
    expected = torch.tensor([0.0, 0.5, 0.875, 1.0, 0.0, 0.0])
    torch.testing.assert_close(rewards.stealth(position, collided, 0.8, 0.8), expected)
