from typing import Any

import pytest
import torch
from torch import Tensor
from torch.distributions import Categorical, Independent, Normal, kl_divergence

from morl_blocks import ppo
from tests.refusals import refused

CORNERS = torch.tensor([[1.0, 0.0], [0.0, 1.0]])


def test_divergences_are_those_of_torch() -> None:
    torch.manual_seed(0)
    mean, log_std, other, other_log = torch.randn(4, 5, 3)
    expected = kl_divergence(
        Independent(Normal(mean, log_std.exp()), 1), Independent(Normal(other, other_log.exp()), 1)
    )
    torch.testing.assert_close(ppo.gaussian_kl(mean, log_std, other, other_log), expected)
    expected = kl_divergence(Categorical(logits=mean), Categorical(logits=other))
    torch.testing.assert_close(ppo.categorical_kl(mean, other), expected)


def test_closed_form_of_the_shortfall() -> None:
    divergence = torch.tensor([0.2, 0.7, 0.0])
    other = torch.tensor([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
    short = ppo.indifference(divergence, CORNERS[0].expand(3, 2), other, scale=1.0)
    torch.testing.assert_close(short, torch.tensor([0.8, 0.0, 0.0]))
    same = torch.tensor([[0.3, 0.7]]).expand(4, 2)  # one preference for all is not punished
    assert float(ppo.Indifference()(ppo.CategoricalActor(3, 2, 4), torch.randn(4, 3), same).detach()) == 0.0


@pytest.mark.parametrize("actor", [ppo.CategoricalActor(3, 2, 4), ppo.UnitBoxGaussianActor(3, 2, 2)])
def test_descending_makes_a_policy_tell_preferences_apart(actor: ppo.Actor) -> None:
    torch.manual_seed(0)
    observation, preference = torch.randn(16, 3), CORNERS.repeat(8, 1)
    penalty, optimiser = ppo.Indifference(coefficient=1.0), torch.optim.Adam(actor.parameters(), lr=0.01)
    first = float(penalty(actor, observation, preference).detach())
    for _ in range(100):
        optimiser.zero_grad()
        penalty(actor, observation, preference).backward()
        optimiser.step()
    assert first > 0.5
    assert float(penalty(actor, observation, preference).detach()) < 0.1


def test_an_actor_without_a_divergence_and_bad_numbers_are_named() -> None:
    class Own(ppo.CategoricalActor):
        def kl(self, output: Any, other: Any) -> Tensor:
            return ppo.Actor.kl(self, output, other)

    refused("`actor` must implement `kl`", ppo.Indifference(), Own(3, 2, 4), torch.zeros(2, 3), CORNERS)
    for bad in (-1.0, 1j):
        refused("`coefficient` must", ppo.Indifference, coefficient=bad)
    for scale in (0.0, [1.0, 2.0]):
        refused("`scale` must", ppo.Indifference, scale=scale)
