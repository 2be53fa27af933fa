"""An environment that costs nothing, batched for our trainer and single for the others."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from morl_envs.protocol import State
from morl_recipes import EnvSource

OBSERVATIONS, ACTIONS, HORIZON = 33, 2, 1000


class DummyBatch:
    """N environments that answer with the same numbers and are truncated every 1000 steps."""

    num_actions: int | None = None
    fresh_tensors = True  # what it returned is never written to, as in every environment of the package

    def __init__(self, num_envs: int, objectives: int) -> None:
        self.num_envs, self.observation_dim, self.action_dim, self.horizon = num_envs, OBSERVATIONS, ACTIONS, HORIZON
        self.objectives = tuple(f"objective {i}" for i in range(objectives))
        self.action_low: Tensor | None = -torch.ones(ACTIONS)
        self.action_high: Tensor | None = torch.ones(ACTIONS)
        generator = torch.Generator().manual_seed(0)
        self._observation = torch.randn(num_envs, OBSERVATIONS, generator=generator)
        self._reward = torch.randn(num_envs, objectives, generator=generator)
        self._flag = torch.zeros(2, num_envs, 1, dtype=torch.bool)
        self._step = 0

    def reset_tensors(self, mask: Tensor | None = None) -> Tensor:
        """Return the observation."""
        return self._observation

    def step_tensors(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the observation and the reward."""
        self._step += 1
        ended = self._flag[1] | (self._step % HORIZON == 0)
        return self._observation, self._reward, self._flag[0], ended

    def get_state(self) -> State:
        """Return the clock."""
        return {"step": torch.tensor(self._step)}

    def set_state(self, state: State) -> None:
        """Set the clock."""
        self._step = int(state["step"])


def dummy(objectives: int) -> EnvSource:
    """Return the source of the free environment."""

    def make(num_envs: int, seeds: Sequence[int]) -> DummyBatch:
        return DummyBatch(num_envs, objectives)

    return EnvSource("dummy", make)


class DummyEnv(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """The same, one environment at a time, with a vector reward as in MO-Gymnasium."""

    def __init__(self, objectives: int = 3) -> None:
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (OBSERVATIONS,), np.float32)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (ACTIONS,), np.float32)
        self.reward_space = gymnasium.spaces.Box(-np.inf, np.inf, (objectives,), np.float32)
        self._observation = np.zeros(OBSERVATIONS, np.float32)
        self._reward = np.ones(objectives, np.float32)
        self._steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Return the observation."""
        self._steps = 0
        return self._observation, {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Return the observation and the reward."""
        self._steps += 1
        return self._observation, self._reward, False, self._steps >= HORIZON, {}
