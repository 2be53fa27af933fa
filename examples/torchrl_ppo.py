"""PPO with TorchRL for a vector reward: four lines differ from a scalar reward, each marked with the original."""

import torch
from tensordict.nn import TensorDictModule
from tensordict.nn.distributions import NormalParamExtractor
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, ReplayBuffer, SamplerWithoutReplacement
from torchrl.envs import Compose, DoubleToFloat, MOGymEnv, StepCounter, TransformedEnv
from torchrl.modules import ProbabilisticActor, TanhNormal, ValueOperator

from morl_blocks import combine_gradients
from morl_blocks.combiners import PCGrad
from morl_blocks.ppo import VectorClipPPOLoss, VectorGAE

FRAMES, EPOCHS, MINIBATCH, OBJECTIVES = 256, 2, 64, 2


def main() -> None:
    """Train for two iterations on the mountain car: reach the goal and save fuel."""
    torch.manual_seed(0)
    env = TransformedEnv(MOGymEnv("mo-mountaincarcontinuous-v0"), Compose(DoubleToFloat(), StepCounter(200)))
    inputs, actions = env.observation_spec["observation"].shape[-1], env.action_spec.shape[-1]
    body = nn.Sequential(nn.Linear(inputs, 32), nn.Tanh(), nn.Linear(32, 2 * actions), NormalParamExtractor())
    actor = ProbabilisticActor(
        TensorDictModule(body, in_keys=["observation"], out_keys=["loc", "scale"]),
        in_keys=["loc", "scale"],
        distribution_class=TanhNormal,
        distribution_kwargs={"low": env.action_spec.space.low, "high": env.action_spec.space.high},
        return_log_prob=True,
    )
    value = nn.Sequential(nn.Linear(inputs, 32), nn.Tanh(), nn.Linear(32, OBJECTIVES))  # 1: was Linear(32, 1)
    critic = ValueOperator(value, in_keys=["observation"])
    advantage = VectorGAE(gamma=0.99, lmbda=0.95, value_network=critic)  # 2: was GAE(...)
    loss = VectorClipPPOLoss(actor, critic, clip_epsilon=0.2, normalize_advantage=True)  # 3: was ClipPPOLoss(...)
    adam = torch.optim.Adam(loss.parameters(), lr=3e-4)
    frames = {"frames_per_batch": FRAMES, "total_frames": 2 * FRAMES}
    collector = Collector(env, actor, **frames, auto_register_policy_transforms=False)
    buffer = ReplayBuffer(storage=LazyTensorStorage(FRAMES), sampler=SamplerWithoutReplacement(), batch_size=MINIBATCH)
    for rollout in collector:
        for _ in range(EPOCHS):
            buffer.extend(advantage(rollout).reshape(-1))
            for batch in (buffer.sample() for _ in range(FRAMES // MINIBATCH)):
                losses = loss(batch)
                adam.zero_grad()
                # 4: was losses["loss_objective"].backward(), as part of the sum below
                combined = combine_gradients(losses["loss_objective"], actor.parameters(), PCGrad())
                (losses["loss_critic"] + losses["loss_entropy"]).backward()
                adam.step()
        print(f"conflict {float(combined.conflict):.2f}  KL {float(losses['kl_approx']):.4f}")
    collector.shutdown()


if __name__ == "__main__":
    main()
