import pytest
import torch
from torch import nn

from morl_blocks._networks import LinearBank
from morl_blocks.critics import BranchedCritic, Critic, SharedCritic
from tests.refusals import refused

W = torch.tensor([0.5, 0.3, 0.2])


def count(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def test_parameter_counts_and_those_of_the_paper() -> None:
    for n, m in ((30, 3), (17, 2), (4, 5)):
        assert count(BranchedCritic(n, m)) == 64 * (n + m) + 4224 + 4225 * m
        assert count(SharedCritic(n, m)) == 64 * (n + m) + 8384 + 65 * m
    assert [count(BranchedCritic(30, 3)), count(SharedCritic(30, 3))] == [19011, 10691]
    assert [count(BranchedCritic(17, 2)), count(SharedCritic(17, 2))] == [13890, 9730]


def test_branched_equals_a_loop_over_plain_heads() -> None:
    critic = BranchedCritic(6, 3, hidden=8)
    observation = torch.randn(4, 5, 6)
    values = critic(observation, W)
    features = critic.trunk(torch.cat([observation, W.expand(4, 5, 3)], -1))
    first, last = critic.heads[0], critic.heads[2]
    assert isinstance(first, LinearBank)
    assert isinstance(last, LinearBank)
    for i in range(3):
        hidden = torch.tanh(nn.functional.linear(features, first.weight[i], first.bias[i]))
        out = nn.functional.linear(hidden, last.weight[i], last.bias[i])
        torch.testing.assert_close(values[..., i], out.squeeze(-1))


@pytest.mark.parametrize("kind", [SharedCritic, BranchedCritic])
class TestBoth:
    def test_preference_per_sample_or_for_all(self, kind: type[Critic]) -> None:
        critic = kind(6, 3)
        observation = torch.randn(2, 4, 6)
        torch.testing.assert_close(critic(observation, W), critic(observation, W.expand(2, 4, 3)))
        assert not torch.allclose(critic(observation, W), critic(observation, W.flip(0)))

    def test_orthogonal_layers_have_their_gains(self, kind: type[Critic]) -> None:
        critic = kind(6, 3, hidden=8, init="orthogonal")
        layers = [layer for layer in critic.modules() if isinstance(layer, nn.Linear | LinearBank)]
        for layer, gain in zip(layers, [2.0] * (len(layers) - 1) + [1.0], strict=True):
            rows = layer.weight if layer.weight.shape[-2] <= layer.weight.shape[-1] else layer.weight.mT
            torch.testing.assert_close(rows @ rows.mT, (gain * torch.eye(rows.shape[-2])).expand(*rows.shape[:-1], -1))
            assert not layer.bias.any()

    def test_options_and_a_uniform_loss_that_ignores_attention(self, kind: type[Critic]) -> None:
        critic = kind(6, 3, hidden=8, depth=3, activation=nn.ReLU)
        kinds = [type(module) for module in critic.modules()]
        assert kinds.count(nn.ReLU) == 4
        assert nn.Tanh not in kinds
        assert critic(torch.zeros(6), W).shape == (3,)
        values, targets = torch.randn(5, 3), torch.randn(5, 3)
        expected = (values - targets).square().mean()
        torch.testing.assert_close(critic.loss(values, targets), expected)
        torch.testing.assert_close(critic.loss(values, targets, torch.tensor([1.0, 0.0, 0.0])), expected)

    def test_bad_input(self, kind: type[Critic]) -> None:
        critic = kind(6, 3)
        refused("`preference` must have 3 objectives in its last", critic, torch.zeros(5, 6), torch.tensor([0.5, 0.5]))
        refused(r"`preference` must broadcast to shape \[5, 3\]", critic, torch.zeros(5, 6), torch.zeros(4, 3))
        refused("`preference` must be one vector or have 3", critic, torch.zeros(2, 2, 6), torch.zeros(2, 3))
        refused(r"below 1e18, got 1\.0.*e\+20", critic, torch.tensor([0.0] * 5 + [1e20]), W)
        refused("`observation` must have 6 numbers in its last dimension, got shape", critic, torch.zeros(5, 7), W)
        refused("`hidden` must be a whole number >= 1, got 0", kind, 6, 3, hidden=0)
        refused("`num_objectives` must be a whole number >= 1, got 0", kind, 6, 0)
