"""PASTA as a user would write it for one run: one environment, m backward passes, PCGrad on lists, two Adams."""

from typing import Any

import gymnasium
import torch
from torch import Tensor, nn

from benchmarks.combiner_speed import list_pcgrad
from morl_blocks.critics import AttentionWeightedCritic, BranchedCritic
from morl_blocks.ppo import (
    ReturnNormalizer,
    UnitBoxGaussianActor,
    clipped_objectives,
    gaussian_entropy,
    gaussian_log_prob,
    vector_advantage,
    vector_gae,
)
from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff
from morl_blocks.schedulers import ConflictBraked

STEPS, EPOCHS, MINIBATCH = 2048, 10, 64


class PlainPasta:
    """One run.

    Args:
        env: An environment with a vector reward.
        observations: Numbers per observation.
        actions: Numbers per action.
        m: Number of objectives.
    """

    def __init__(self, env: gymnasium.Env[Any, Any] | None, observations: int, actions: int, m: int) -> None:
        self.env, self.m = env, m
        self.actor = UnitBoxGaussianActor(observations, m, actions)
        self.critic = AttentionWeightedCritic(BranchedCritic(observations, m))
        self.scalarizer = AdaptiveSmoothTchebycheff(ConflictBraked())
        self.normalizer = ReturnNormalizer(m)
        self.preference = torch.full((m,), 1 / m)
        self.optimisers = [torch.optim.Adam(net.parameters(), lr=3e-4) for net in (self.actor, self.critic)]
        self.observation = None if env is None else torch.as_tensor(env.reset()[0])

    def iterate(self) -> None:
        """Collect 2048 steps and learn from them."""
        data = self.collect()
        for _ in range(EPOCHS):
            for rows in torch.randperm(STEPS).split(MINIBATCH):
                self.update({name: tensor[rows] for name, tensor in data.items()})

    @torch.no_grad()
    def collect(self) -> dict[str, Tensor]:
        """Step the environment and prepare the learning targets."""
        if self.env is None or self.observation is None:
            raise ValueError("`env` must be given to collect, got None.")
        rows = []
        for _ in range(STEPS):
            mean, log_std = self.actor(self.observation, self.preference)
            unit = mean + log_std.exp() * torch.randn_like(mean)
            action = 2 * unit.clamp(0, 1) - 1
            following, reward, ended, cut, _ = self.env.step(action.numpy())
            log_prob = gaussian_log_prob(unit, mean, log_std)
            flags = torch.tensor([ended]), torch.tensor([ended or cut])
            step = (self.observation, unit, log_prob, torch.as_tensor(reward, dtype=torch.float32), *flags)
            rows.append((*step, torch.as_tensor(following)))
            self.observation = torch.as_tensor(self.env.reset()[0]) if ended or cut else rows[-1][-1]
        observation, unit, log_prob, reward, ended_t, done, following_t = map(torch.stack, zip(*rows, strict=True))
        value, next_value = (self.critic(x, self.preference) for x in (observation, following_t))
        advantage, returns = vector_gae(reward, value, next_value, ended_t, done, 0.99, 0.95)
        attention = self.scalarizer.attention(self.normalizer(returns), self.preference)
        return {
            "observation": observation,
            "action": unit,
            "log_prob": log_prob,
            "advantage": vector_advantage(advantage),
            "target": returns,
            "attention": attention,
        }

    def update(self, batch: dict[str, Tensor]) -> None:
        """Take one step of the critic and one of the actor."""
        values = self.critic(batch["observation"], self.preference)
        loss = 0.5 * self.critic.loss(values, batch["target"], batch["attention"])
        self.optimisers[1].zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.critic.parameters(), 0.5)
        self.optimisers[1].step()
        mean, log_std = self.actor(batch["observation"], self.preference)
        log_prob = gaussian_log_prob(batch["action"], mean, log_std)
        losses = clipped_objectives(log_prob, batch["log_prob"], batch["advantage"], 0.2)
        list_pcgrad(losses, list(self.actor.parameters()))
        (-0.01 * gaussian_entropy(log_std).mean()).backward()
        nn.utils.clip_grad_norm_(self.actor.parameters(), 0.5)
        self.optimisers[0].step()


def random_batch(observations: int, actions: int, m: int) -> dict[str, Tensor]:
    """Return a minibatch of noise, to time the update alone."""
    return {
        "observation": torch.randn(MINIBATCH, observations),
        "action": torch.rand(MINIBATCH, actions),
        "log_prob": -torch.ones(MINIBATCH),
        "advantage": torch.randn(MINIBATCH, m),
        "target": torch.randn(MINIBATCH, m),
        "attention": torch.full((MINIBATCH, m), 1 / m),
    }
