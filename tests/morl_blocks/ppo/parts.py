"""Small policies, critics and minibatches that the tests of the loss share."""

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
