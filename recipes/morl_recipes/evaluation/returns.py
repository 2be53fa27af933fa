"""Play a policy and discount what it earned."""

from collections.abc import Callable

import torch
from torch import Tensor

from morl_blocks.metrics import discounted_returns
from morl_blocks.metrics.arrays import Array
from morl_envs import TensorEnv


@torch.no_grad()
def play_returns(policy: Callable[[Tensor], Tensor], env: TensorEnv, gamma: float = 1.0) -> Array:
    r"""Play one episode in each environment of a batch and return its discounted returns (maximise).

    .. math:: J_n = \sum_t \gamma^t r_{t,n}

    The discount is that of the *evaluation*, which a protocol fixes; training may use another.

    Args:
        policy: From observations ``[N, n]`` to actions ``[N, action_dim]``, or ``[N]`` whole numbers.
        env: N environments, such as those of :func:`morl_envs.make_batch`.
        gamma: Discount, in (0, 1].

    Returns:
        Returns of the N episodes, ``[N, m]``; their mean is the policy's point on a front.

    Example:
        >>> from morl_envs import make_batch
        >>> down = lambda observation: torch.ones(len(observation), dtype=torch.int64)
        >>> play_returns(down, make_batch("deep-sea-treasure-v0", 2), gamma=0.99).round(2)
        array([[ 0.7, -1. ],
               [ 0.7, -1. ]])
    """
    rewards, ends = [], []
    observation = env.reset_tensors()
    playing = torch.ones(env.num_envs, 1, dtype=torch.bool)
    for _ in range(env.horizon):
        _, reward, terminated, truncated = env.step_tensors(policy(observation))
        done = terminated | truncated
        rewards.append(reward.double().cpu().clone())
        ends.append(done.cpu().clone())
        playing &= ~ends[-1]
        if not playing.any():
            break
        observation = env.reset_tensors(done)
    return discounted_returns(torch.stack(rewards), torch.stack(ends), gamma)
