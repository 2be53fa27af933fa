import pytest
import torch

from morl_blocks.ppo import CategoricalActor, UnitBoxGaussianActor
from morl_recipes.saved_policy import SavedPolicy, acting

LOW, HIGH = torch.tensor([-1.0, 0.0]), torch.tensor([1.0, 4.0])


def test_the_mean_is_mapped_to_the_action_space() -> None:
    actor = UnitBoxGaussianActor(4, 2, 2, hidden=8)
    observation, preference = torch.randn(6, 4), torch.rand(6, 2)
    mean, _ = actor(observation, preference)
    action = SavedPolicy(actor.state_dict(), 2, LOW, HIGH)(observation, preference)
    torch.testing.assert_close(action, LOW + mean * (HIGH - LOW))


def test_observations_are_scaled_as_in_training() -> None:
    actor = UnitBoxGaussianActor(3, 2, 2, hidden=8)
    scale = {"observation_mean": torch.tensor([1.0, 2.0, 3.0]), "observation_variance": torch.tensor([4.0, 1.0, 1e-12])}
    policy = SavedPolicy({**actor.state_dict(), **scale}, 2, LOW, HIGH)
    plain = SavedPolicy(actor.state_dict(), 2, LOW, HIGH)
    preference = torch.tensor([[0.5, 0.5]])
    seen = policy(torch.tensor([[3.0, 2.5, 99.0]]), preference)
    torch.testing.assert_close(seen, plain(torch.tensor([[1.0, 0.5, 10.0]]), preference))  # the last one is clipped


def test_discrete_policies_choose_the_largest_logit() -> None:
    actor = CategoricalActor(4, 2, 3, hidden=8)
    observation = torch.randn(6, 4)
    policy = acting(SavedPolicy(actor.state_dict(), 2, None, None), (0.25, 0.75))
    expected = actor(observation, torch.tensor([0.25, 0.75])).argmax(-1)
    assert torch.equal(policy(observation), expected)


def test_the_preference_matters() -> None:
    policy = SavedPolicy(UnitBoxGaussianActor(4, 2, 2).state_dict(), 2, LOW, HIGH)
    observation = torch.randn(1, 4)
    assert not torch.equal(acting(policy, (1.0, 0.0))(observation), acting(policy, (0.0, 1.0))(observation))


def test_foreign_tensors_are_refused() -> None:
    tensors = UnitBoxGaussianActor(4, 2, 2).state_dict()
    with pytest.raises(RuntimeError, match="Unexpected key"):
        SavedPolicy({**tensors, "extra": torch.zeros(1)}, 2, LOW, HIGH)


def test_a_small_file_that_describes_a_large_network_takes_no_memory() -> None:
    wide = {"trunk.0.weight": torch.zeros(200_000, 4), "mean.bias": torch.zeros(2)}  # its second layer has 160 GB
    with pytest.raises(RuntimeError, match="Missing key"):
        SavedPolicy(wide, 2, LOW, HIGH)
