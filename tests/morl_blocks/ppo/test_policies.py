import pytest
import torch
from tensordict import TensorDict
from tensordict.nn import ProbabilisticTensorDictSequential
from torchrl.envs.utils import ExplorationType, set_exploration_type

from morl_blocks.ppo import CategoricalActor, CategoricalPolicy, UnitBoxGaussianActor, UnitBoxPolicy, gaussian_log_prob


def inputs(count: int) -> TensorDict:
    return TensorDict({"observation": torch.randn(count, 4), "preference": torch.rand(count, 2)}, [count])


def test_unit_box_policy_keeps_the_log_probability_of_the_unclipped_sample() -> None:
    actor, low, high = UnitBoxGaussianActor(4, 2, 3), torch.tensor([-1.0, 0.0, -2.0]), torch.tensor([1.0, 0.5, 2.0])
    data = UnitBoxPolicy(actor, low, high)(inputs(500))
    unit = data["unit_action"]
    assert bool((unit < 0).any())  # some samples do leave the box
    assert bool((unit > 1).any())
    mean, log_std = actor(data["observation"], data["preference"])
    torch.testing.assert_close(data["action_log_prob"], gaussian_log_prob(unit, mean, log_std))
    torch.testing.assert_close(data["action"], low + unit.clamp(0, 1) * (high - low))
    assert bool(((data["action"] >= low) & (data["action"] <= high)).all())


def test_unit_box_policy_distribution_and_deterministic_action() -> None:
    actor = UnitBoxGaussianActor(4, 2, 3)
    policy, data = UnitBoxPolicy(actor, -1.0, 1.0), inputs(6)
    assert isinstance(policy, ProbabilisticTensorDictSequential)
    mean, _ = actor(data["observation"], data["preference"])
    torch.testing.assert_close(policy.get_dist(data).mean, mean)
    assert list(data.keys()) == ["observation", "preference"]  # asking for the distribution writes nothing
    with set_exploration_type(ExplorationType.DETERMINISTIC):
        torch.testing.assert_close(policy(data)["action"], 2 * mean - 1)


def test_categorical_policy() -> None:
    actor = CategoricalActor(4, 2, 3)
    policy, data = CategoricalPolicy(actor), inputs(200)
    logits = actor(data["observation"], data["preference"])
    policy(data)
    assert set(data["action"].tolist()) == {0, 1, 2}
    expected = logits.log_softmax(-1)[torch.arange(200), data["action"]]
    torch.testing.assert_close(data["action_log_prob"], expected)
    with set_exploration_type(ExplorationType.DETERMINISTIC):
        assert torch.equal(policy(data.select("observation", "preference"))["action"], logits.argmax(-1))


def test_other_input_keys() -> None:
    data = inputs(5).rename_key_("observation", "state")
    policy = CategoricalPolicy(CategoricalActor(4, 2, 3), in_keys=["state", "preference"])
    assert policy(data)["action"].shape == (5,)


def test_bad_bounds() -> None:
    actor = UnitBoxGaussianActor(4, 2, 3)
    with pytest.raises(ValueError, match="`high - low` must be > 0"):
        UnitBoxPolicy(actor, low=1.0, high=1.0)
    with pytest.raises(ValueError, match="`low` must be finite"):
        UnitBoxPolicy(actor, low=-torch.inf, high=1.0)
