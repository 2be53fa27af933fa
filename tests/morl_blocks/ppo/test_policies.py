import pytest
import torch
from tensordict import TensorDict
from tensordict.nn import ProbabilisticTensorDictSequential
from torchrl.envs.utils import ExplorationType, set_exploration_type

from morl_blocks.ppo import CategoricalActor, CategoricalPolicy, UnitBoxGaussianActor, UnitBoxPolicy, gaussian_log_prob
from morl_blocks.ppo.policies import OneHotChoice
from tests.refusals import refused


def inputs(count: int) -> TensorDict:
    return TensorDict({"observation": torch.randn(count, 4), "preference": torch.rand(count, 2)}, [count])


def test_unit_box_policy_keeps_the_log_probability_of_the_unclipped_sample() -> None:
    actor, low, high = UnitBoxGaussianActor(4, 2, 3), torch.tensor([-1.0, 0.0, -2.0]), torch.tensor([1.0, 0.5, 2.0])
    data = UnitBoxPolicy(actor, low, high)(inputs(500))
    unit = data["unit_action"]
    assert unit.min() < 0  # some samples do leave the box
    assert unit.max() > 1
    mean, log_std = actor(data["observation"], data["preference"])
    torch.testing.assert_close(data["action_log_prob"], gaussian_log_prob(unit, mean, log_std))
    torch.testing.assert_close(data["action"], low + unit.clamp(0, 1) * (high - low))


def test_unit_box_policy_distribution_and_deterministic_action() -> None:
    actor = UnitBoxGaussianActor(4, 2, 3)
    policy, data = UnitBoxPolicy(actor, -1.0, 1.0), inputs(6)
    assert isinstance(policy, ProbabilisticTensorDictSequential)
    mean, _ = actor(data["observation"], data["preference"])
    torch.testing.assert_close(policy.get_dist(data).mean, mean)
    assert list(data.keys()) == ["observation", "preference"]  # asking for the distribution writes nothing
    with set_exploration_type(ExplorationType.DETERMINISTIC):
        torch.testing.assert_close(policy(data)["action"], 2 * mean - 1)
    refused("`high - low` must be > 0", UnitBoxPolicy, actor, low=1.0, high=1.0)
    refused("`low` must be finite", UnitBoxPolicy, actor, low=-torch.inf, high=1.0)


def test_categorical_policy_with_other_keys() -> None:
    actor = CategoricalActor(4, 2, 3)
    policy = CategoricalPolicy(actor, in_keys=["state", "preference"])
    data = inputs(200).rename_key_("observation", "state")
    logits = actor(data["state"], data["preference"])
    policy(data)
    assert set(data["action"].tolist()) == {0, 1, 2}
    expected = logits.log_softmax(-1)[torch.arange(200), data["action"]]
    torch.testing.assert_close(data["action_log_prob"], expected)


@pytest.mark.parametrize("kind", [ExplorationType.DETERMINISTIC, ExplorationType.MODE, ExplorationType.MEAN])
def test_without_exploration_the_likeliest_action_is_taken(kind: ExplorationType) -> None:
    actor, data = CategoricalActor(4, 2, 3), inputs(50)
    best = actor(data["observation"], data["preference"]).argmax(-1)
    with set_exploration_type(kind):
        index, one_hot = CategoricalPolicy(actor)(data.copy()), CategoricalPolicy(actor, one_hot=True)(data.copy())
    assert torch.equal(index["action"], best)
    assert torch.equal(one_hot["action"], torch.nn.functional.one_hot(best, 3))
    torch.testing.assert_close(one_hot["action_log_prob"], index["action_log_prob"])


def test_one_hot_actions() -> None:
    actor, data = CategoricalActor(4, 2, 3), inputs(200)
    policy = CategoricalPolicy(actor, one_hot=True)
    policy(data)
    assert torch.equal(data["action"].sum(-1), torch.ones(200, dtype=torch.int64))
    assert data["action"].sum(0).gt(0).tolist() == [True] * 3
    torch.testing.assert_close(policy.get_dist(data).entropy(), CategoricalPolicy(actor).get_dist(data).entropy())
    refused("`action` must have 3 numbers in its last", policy.get_dist(data).log_prob, data["action"].argmax(-1))
    ties = OneHotChoice(logits=torch.zeros(2, 3))
    assert ties.mode.tolist() == [[1, 0, 0], [1, 0, 0]]
    assert ties.sample((5,)).shape == (5, 2, 3)


def test_keys_are_a_list() -> None:
    refused("`in_keys` must be a list", CategoricalPolicy, CategoricalActor(3, 2, 4), in_keys="observation")
    refused("`in_keys` must be a list", UnitBoxPolicy, UnitBoxGaussianActor(3, 2, 1), -1.0, 1.0, in_keys="observation")
