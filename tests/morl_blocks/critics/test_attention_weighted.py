import pytest
import torch
from torch import Tensor, nn

from morl_blocks.critics import AttentionWeightedCritic, BranchedCritic, SharedCritic, value_loss
from tests.refusals import refused


def test_value_loss_closed_form() -> None:
    values, targets = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.zeros(2, 2)
    torch.testing.assert_close(value_loss(values, targets), torch.tensor((1 + 4 + 9 + 16) / 4))
    eta = torch.tensor([[1.0, 0.0], [0.25, 0.75]])
    torch.testing.assert_close(value_loss(values, targets, eta), torch.tensor((1 + 0.25 * 9 + 0.75 * 16) / 2))
    torch.testing.assert_close(value_loss(values, targets, torch.tensor([0.0, 1.0])), torch.tensor(10.0))
    runs, uniform = torch.randn(2, 6, 3), torch.full((2, 6, 3), 1 / 3)
    torch.testing.assert_close(value_loss(runs, torch.zeros(2, 6, 3), uniform), runs.square().mean())


@pytest.mark.parametrize("inner", [SharedCritic(4, 2), BranchedCritic(4, 2)])
def test_wraps_any_critic(inner: nn.Module) -> None:
    critic = AttentionWeightedCritic(inner)
    observation, preference = torch.randn(5, 4), torch.tensor([0.5, 0.5])
    values = critic(observation, preference)
    torch.testing.assert_close(values, inner(observation, preference))
    eta = torch.tensor([0.2, 0.8])
    torch.testing.assert_close(critic.loss(values, values + 1, eta), torch.tensor(1.0))
    assert [*critic.parameters()] == [*inner.parameters()]


def test_bad_input() -> None:
    critic = AttentionWeightedCritic(BranchedCritic(4, 2))
    values = torch.zeros(5, 2)
    refused(r"`attention` must be given to AttentionWeightedCritic\.loss, got None", critic.loss, values, values)
    refused("`attention` must sum to 1", critic.loss, values, values, torch.ones(2))
    refused("`attention` must have 2 objectives in its last", critic.loss, values, values, torch.full((3,), 1 / 3))
    with pytest.raises(ValueError, match=r"`attention` must be one vector or have 3 dimensions .*, got shape \[2, 2\]"):
        critic.loss(torch.zeros(2, 2, 2), torch.zeros(2, 2, 2), torch.full((2, 2), 0.5))
    bad: Tensor = torch.zeros(5, 1)
    refused(r"`targets` must have the shape of values \[5, 2\], got shape \[5, 1\]", value_loss, values, bad)
