from collections.abc import Callable

import pytest
import torch
from tensordict import TensorDict
from torch import Tensor
from torchrl import collectors
from torchrl.envs import (
    Compose,
    EnvBase,
    FrameSkipTransform,
    NoopResetEnv,
    ParallelEnv,
    RewardSum,
    SerialEnv,
    Transform,
    TransformedEnv,
)
from torchrl.envs.libs.gym import MOGymEnv
from torchrl.envs.utils import check_env_specs

from morl_blocks.ppo import CategoricalActor, CategoricalPolicy
from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff, Linear, Scalarizer, SmoothTchebycheff, Tchebycheff
from morl_blocks.schedulers import Fixed
from morl_blocks.transforms import Preference, ScalarizeReward
from tests.refusals import refused

Collector = getattr(collectors, "Collector", None) or collectors.SyncDataCollector  # its name before TorchRL 0.11
W = torch.tensor([0.7, 0.3])
SCALARIZERS = [Linear(), Tchebycheff(), SmoothTchebycheff(0.5), AdaptiveSmoothTchebycheff(Fixed(0.5))]


def treasure() -> MOGymEnv:
    return MOGymEnv("deep-sea-treasure-v0")


@pytest.mark.parametrize("scalarizer", SCALARIZERS, ids=lambda s: type(s).__name__)
def test_any_scalarizer_in_a_real_environment(scalarizer: Scalarizer) -> None:
    env = TransformedEnv(treasure(), ScalarizeReward(scalarizer, W))
    check_env_specs(env)
    step = env.rollout(20)["next"]
    assert step["vector_reward"].shape[-1] == 2
    assert step["reward"].shape == (*step["vector_reward"].shape[:-1], 1)
    torch.testing.assert_close(step["reward"].squeeze(-1), scalarizer(step["vector_reward"], W))


def test_with_collector_episode_sums_and_other_keys() -> None:
    scalarize = ScalarizeReward(SmoothTchebycheff(0.5), W, vector_key="objectives")
    sums = RewardSum(in_keys=["reward"], out_keys=["episode_utility"], reset_keys=["_reset"])
    env = TransformedEnv(SerialEnv(2, treasure), Compose(scalarize, sums))
    check_env_specs(env)
    collector = Collector(env, None, frames_per_batch=20, total_frames=40)
    shapes = [(batch["next", "episode_utility"].shape, batch["next", "objectives"].shape) for batch in collector]
    collector.shutdown()
    assert shapes == [((2, 10, 1), (2, 10, 2))] * 2


@pytest.mark.parametrize("later", [FrameSkipTransform(2), NoopResetEnv(2), RewardSum()], ids=lambda t: type(t).__name__)
def test_transforms_that_want_one_reward_may_follow(later: Transform) -> None:
    env = TransformedEnv(treasure(), Compose(ScalarizeReward(Linear(), W), later))
    assert env.reward_key == "reward"
    check_env_specs(env)
    assert env.rollout(5, break_when_any_done=False)["next", "vector_reward"].shape == (5, 2)


def test_the_vector_reward_is_zero_when_an_episode_begins_and_then_that_of_the_last_step() -> None:
    env = TransformedEnv(SerialEnv(2, treasure), ScalarizeReward(Linear(), W))
    assert torch.equal(env.reset()["vector_reward"], torch.zeros(2, 2))
    torch.manual_seed(0)
    data = env.rollout(200, break_when_any_done=False)
    begins = torch.cat([torch.ones(2, 1, 1).bool(), data["next", "done"][:, :-1]], 1)
    assert (begins[0] != begins[1]).any()  # one goes on while the other begins again
    before = torch.cat([torch.zeros(2, 1, 2), data["next", "vector_reward"][:, :-1]], 1)
    torch.testing.assert_close(data["vector_reward"], torch.where(begins, 0.0, before))
    env.close()


def preferring() -> TransformedEnv:
    return TransformedEnv(treasure(), Preference(W))


def one_hot_policy() -> CategoricalPolicy:
    return CategoricalPolicy(CategoricalActor(2, num_objectives=2, num_actions=4), spec=treasure().action_spec)


ROWS = torch.stack([W, W.flip(0)])


@pytest.mark.parametrize(
    ("make", "rows"),
    [
        (lambda: SerialEnv(2, preferring), W.expand(2, 2)),
        (lambda: ParallelEnv(2, preferring), W.expand(2, 2)),
        (lambda: TransformedEnv(SerialEnv(2, treasure), Preference(ROWS)), ROWS),
    ],
    ids=["inside a batch", "inside processes", "around a batch"],
)
def test_the_preference_travels_with_batches(make: Callable[[], EnvBase], rows: Tensor) -> None:
    env = make()
    data = env.rollout(30, one_hot_policy(), break_when_any_done=False)
    for preference in (data["preference"], data["next", "preference"]):
        torch.testing.assert_close(preference, rows.unsqueeze(1).expand(2, 30, 2))
    env.close()


def test_an_index_is_refused_where_a_one_hot_vector_is_expected() -> None:
    assert preferring().observation_spec["preference"].space.high.eq(1).all()
    indices = CategoricalPolicy(CategoricalActor(2, num_objectives=2, num_actions=4))
    refused(r"`action` must have shape \[4\], as OneHot says, got shape \[\]", preferring().rollout, 3, indices)
    assert preferring().rollout(3, one_hot_policy(), break_when_any_done=False)["action"].shape == (3, 4)


def test_works_on_stored_data() -> None:
    data = Preference(W, key=("agent", "w"))(TensorDict({"next": {"reward": torch.rand(6, 2)}}, batch_size=[6]))
    torch.testing.assert_close(data["agent", "w"], W.expand(6, 2))
    before = data["next", "reward"].clone()
    transform = ScalarizeReward(Linear(), W, reward_key=("next", "reward"), vector_key=("next", "vector"))
    assert transform.in_keys == [("next", "reward")]
    out = transform(data)
    torch.testing.assert_close(out["next", "vector"], before)
    torch.testing.assert_close(out["next", "reward"], (before @ W).unsqueeze(-1))


def test_bad_input() -> None:
    third = torch.full((3,), 1 / 3)
    for block in (Preference, lambda weights: ScalarizeReward(Linear(), weights)):
        refused("`weights` must sum to 1", block, torch.ones(2))
    refused("`weights` must broadcast", Preference(W.expand(2, 2)), TensorDict(batch_size=[3]))
    refused("`weights` must be one vector or have 3", Preference(W.expand(2, 2)), TensorDict(batch_size=[2, 2]))
    refused("`weights` must have 2 objectives", TransformedEnv(treasure(), Preference(third)).rollout, 2)
    refused(r"`weights` must be one preference, \[m\], got shape \[3, 2\]", ScalarizeReward, Linear(), W.expand(3, 2))
    env = TransformedEnv(treasure(), ScalarizeReward(Linear(), third))
    refused(r"`weights` must have 2 numbers in its last dimension, got shape \[3\]", lambda: env.reward_spec)
    refused(r"`scalarizer` must be one to maximise \(sense='max'\)", ScalarizeReward, Tchebycheff(sense="min"), W)
