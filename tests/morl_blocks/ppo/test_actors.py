import pytest
import torch
from torch import distributions

from morl_blocks import ppo
from tests.refusals import refused


@pytest.mark.parametrize(("observations", "objectives", "actions", "parameters"), [(30, 3, 2, 6468), (17, 2, 6, 5836)])
def test_parameter_counts_of_the_paper(observations: int, objectives: int, actions: int, parameters: int) -> None:
    actor = ppo.UnitBoxGaussianActor(observations, objectives, actions)
    assert sum(p.numel() for p in actor.parameters()) == parameters
    assert parameters == 64 * (observations + objectives) + 4224 + 66 * actions


def test_the_mean_lies_in_the_unit_box_and_depends_on_both_inputs() -> None:
    actor = ppo.UnitBoxGaussianActor(3, 2, 4)
    mean, log_std = actor(100 * torch.randn(50, 3), torch.rand(50, 2))
    assert bool(((mean >= 0) & (mean <= 1)).all())
    assert torch.equal(log_std, torch.full((50, 4), -0.5))
    assert ppo.UnitBoxGaussianActor(3, 2, 2, log_std=-1.5).log_std.tolist() == [-1.5, -1.5]
    refused("`log_std` must be a finite number, got nan", ppo.UnitBoxGaussianActor, 3, 2, 2, log_std=float("nan"))
    observation, first, second = torch.randn(1, 3), torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
    assert not torch.equal(actor(observation, first)[0], actor(observation, second)[0])
    assert not torch.equal(actor(observation, first)[0], actor(-observation, first)[0])


@pytest.mark.parametrize("kind", [ppo.UnitBoxGaussianActor, ppo.CategoricalActor])
def test_one_preference_serves_a_batch_and_bad_sizes_are_noticed(
    kind: type[ppo.UnitBoxGaussianActor | ppo.CategoricalActor],
) -> None:
    observation, preference, actor = torch.randn(6, 5, 3), torch.tensor([0.3, 0.7]), kind(3, 2, 4)
    torch.testing.assert_close(actor(observation, preference), actor(observation, preference.expand(6, 5, 2)))
    refused("`observation` must have 3 numbers in its last", actor, torch.rand(5, 2), torch.rand(5, 3))  # swapped
    refused("`observation_dim` must be a whole number", kind, 0, 2, 3)
    refused("`num_objectives` must be a whole number", kind, 3, 0, 3)
    refused("`(action_dim|num_actions)` must be a whole number", kind, 3, 2, 0)
    refused("`hidden` must be a whole number", kind, 3, 2, 2, hidden=0)
    refused("`num_actions` must be a whole number >= 2, got 1", ppo.CategoricalActor, 3, 2, 1)


def test_distributions_against_torch() -> None:
    mean, log_std, action = torch.rand(7, 3).double(), torch.randn(7, 3).double(), torch.randn(7, 3).double()
    gaussian = distributions.Independent(distributions.Normal(mean, log_std.exp()), 1)
    torch.testing.assert_close(ppo.gaussian_log_prob(action, mean, log_std), gaussian.log_prob(action))
    torch.testing.assert_close(ppo.gaussian_entropy(log_std), gaussian.entropy())
    logits, index = torch.randn(7, 4).double(), torch.randint(4, (7,))
    categorical = distributions.Categorical(logits=logits)
    torch.testing.assert_close(ppo.categorical_log_prob(index, logits), categorical.log_prob(index))
    torch.testing.assert_close(ppo.categorical_entropy(logits), categorical.entropy())


def test_samples_follow_their_distribution() -> None:
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(100_000, 1, generator=generator)
    sample = ppo.gaussian_sample(torch.tensor([0.3]), torch.tensor([-1.0]), noise)
    assert sample.mean().item() == pytest.approx(0.3, abs=5e-3)
    assert sample.std().item() == pytest.approx(0.36788, abs=5e-3)
    logits = torch.tensor([0.0, 1.0, -1.0])
    index = ppo.categorical_sample(logits, torch.rand(100_000, 3, generator=generator))
    torch.testing.assert_close(index.bincount() / 100_000, logits.softmax(-1), atol=5e-3, rtol=0)
    assert ppo.categorical_sample(torch.zeros(2), torch.tensor([0.0, 0.5])).item() == 1  # noise of 0 is finite


def test_the_box_is_met_exactly_and_never_left() -> None:
    low, high = torch.tensor([-0.1, 0.0]), torch.tensor([0.3, 0.7])
    ends = ppo.unit_box_to_action(torch.tensor([[-5.0, 0.0], [1.0, 9.0], [0.5, 0.5]]), low, high)
    torch.testing.assert_close(ends, torch.tensor([[-0.1, 0.0], [0.3, 0.7], [0.1, 0.35]]))
    assert torch.equal(ends[0], low)
    assert torch.equal(ends[1], high)
