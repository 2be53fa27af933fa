"""Random actions, and two environments that must play alike."""

import torch
from torch import Tensor

from morl_envs import TensorEnv


def commands(env: TensorEnv, steps: int, seed: int = 0) -> Tensor:
    """Return random actions, ``[steps, N, a]``, or indices ``[steps, N]``."""
    generator = torch.Generator().manual_seed(seed)
    if env.num_actions is not None:
        return torch.randint(env.num_actions, (steps, env.num_envs), generator=generator)
    assert env.action_low is not None
    assert env.action_high is not None
    noise = torch.rand(steps, env.num_envs, env.action_dim, generator=generator)
    return env.action_low + (env.action_high - env.action_low) * noise


def assert_alike(env: TensorEnv, other: TensorEnv, actions: Tensor) -> None:
    """Require the same bits from both in every step, across the ends of episodes."""
    for action in actions:
        results = [each.step_tensors(action) for each in (env, other)]
        assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))
        done = results[0][2] | results[0][3]
        if done.any():
            assert torch.equal(env.reset_tensors(done), other.reset_tensors(done))
