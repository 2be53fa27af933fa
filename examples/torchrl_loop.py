"""Vector PPO in a TorchRL loop: worker processes, normalised observations, and a trunk shared by actor and critic."""

import torch
from tensordict.nn import TensorDictModule
from torch import Tensor, nn
from torch.distributions import Categorical
from torchrl.collectors import Collector
from torchrl.envs import Compose, DTypeCastTransform, EnvBase, MOGymEnv, ParallelEnv, TransformedEnv, VecNormV2
from torchrl.modules import ActorValueOperator, ProbabilisticActor, ValueOperator

from morl_blocks.combiners import PCGrad
from morl_blocks.ppo import VectorClipPPOLoss, VectorGAE, combine_gradients, vector_advantage
from morl_blocks.transforms import Preference

PREFERENCE = torch.tensor([0.7, 0.3])


class Trunk(nn.Module):
    """Features of observation and preference."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2 + 2, 32)

    def forward(self, observation: Tensor, preference: Tensor) -> Tensor:
        """Return features, ``[*B, 32]``."""
        return torch.tanh(self.linear(torch.cat([observation, preference], -1)))


def make_env() -> EnvBase:
    """Return deep-sea treasure (treasure against time), with the preference as an observation."""
    env = MOGymEnv("deep-sea-treasure-v0", categorical_action_encoding=True)
    as_float = DTypeCastTransform(torch.int32, torch.float32, in_keys=["observation"])
    return TransformedEnv(env, Compose(as_float, Preference(PREFERENCE)))


def make_networks() -> ActorValueOperator:
    """Return a trunk with two heads: four actions, and one value per objective."""
    head = TensorDictModule(nn.Linear(32, 4), ["hidden"], ["logits"])
    return ActorValueOperator(
        TensorDictModule(Trunk(), ["observation", "preference"], ["hidden"]),
        ProbabilisticActor(head, in_keys=["logits"], distribution_class=Categorical, return_log_prob=True),
        ValueOperator(nn.Linear(32, 2), in_keys=["hidden"]),
    )


def main() -> None:
    """Train for two iterations."""
    torch.manual_seed(0)
    env = TransformedEnv(ParallelEnv(2, make_env), VecNormV2(in_keys=["observation"]))
    networks = make_networks()
    policy, critic = networks.get_policy_operator(), networks.get_value_operator()
    gae = VectorGAE(gamma=0.99, lmbda=0.95, value_network=critic, shifted=True)
    loss = VectorClipPPOLoss(policy, networks.get_value_head(), normalize_advantage=True, clip_value=0.2)
    adam = torch.optim.Adam(networks.parameters(), lr=1e-3)
    collector = Collector(env, policy, frames_per_batch=128, total_frames=256, auto_register_policy_transforms=False)
    for rollout in collector:
        gae(rollout)
        data = rollout.flatten()
        data["advantage"] = vector_advantage(data["advantage"])
        for rows in torch.randperm(len(data)).split(32):
            losses = loss(data[rows])
            adam.zero_grad()
            # First the combined gradients, then the losses that are added to them in the shared trunk.
            combined = combine_gradients(losses["loss_objective"], policy.parameters(), PCGrad())
            (losses["loss_critic"] + losses["loss_entropy"]).backward()
            adam.step()
        print(f"conflict {float(combined.conflict):.2f}  KL {float(losses['kl_approx']):.4f}")
    collector.shutdown()


if __name__ == "__main__":
    main()
