"""Small policies, critics, minibatches and rollouts that the tests of the loss and the estimator share."""

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import Tensor, nn

from morl_blocks.critics import AttentionWeightedCritic, SharedCritic
from morl_blocks.ppo import CategoricalActor, CategoricalPolicy, UnitBoxGaussianActor, UnitBoxPolicy

M = 3
INPUTS = ["observation", "preference"]


class Body(nn.Sequential):
    """A network of one input or of several, concatenated."""

    def forward(self, *inputs: Tensor) -> Tensor:
        out: Tensor = super().forward(torch.cat(inputs, -1))  # type: ignore[no-untyped-call]
        return out


def gaussian_policy() -> UnitBoxPolicy:
    return UnitBoxPolicy(UnitBoxGaussianActor(4, M, 2), -1.0, 1.0)


def categorical_policy() -> CategoricalPolicy:
    return CategoricalPolicy(CategoricalActor(4, M, 5))


def critic_module(*, weighted: bool = False) -> TensorDictModule:
    critic = SharedCritic(4, M)
    return TensorDictModule(AttentionWeightedCritic(critic) if weighted else critic, INPUTS, ["state_value"])


def minibatch(policy: UnitBoxPolicy | CategoricalPolicy, *batch: int) -> TensorDict:
    """Return actions of a policy that has moved since, with random advantages, targets, old values and attention."""
    batch = batch or (16,)
    data = TensorDict({"observation": torch.randn(*batch, 4), "preference": torch.rand(*batch, M)}, batch)
    with torch.no_grad():
        policy(data)
    data["action_log_prob"] += 0.3 * torch.randn(batch)
    for key in ("advantage", "value_target", "state_value"):
        data[key] = torch.randn(*batch, M)
    data["attention"] = torch.rand(*batch, M).softmax(-1)
    return data


def rollout(*batch: int, m: int = M) -> TensorDict:
    """Return a rollout whose next observations are the observations after, but for episode ends."""
    generator = torch.Generator().manual_seed(0)
    observation = torch.randn(*batch[:-1], batch[-1] + 1, 4, generator=generator)
    done = torch.rand(*batch, 1, generator=generator) < 0.3
    terminated = done & (torch.rand(*batch, 1, generator=generator) < 0.5)
    following = observation[..., 1:, :]
    following = torch.where(done, torch.randn(following.shape, generator=generator), following)
    after = {"observation": following, "reward": torch.randn(*batch, m, generator=generator)}
    after |= {"done": done, "terminated": terminated}
    root = {"observation": observation[..., :-1, :].clone(), "preference": torch.rand(*batch, m, generator=generator)}
    return TensorDict({**root, "next": after}, batch)
