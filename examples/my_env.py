"""A custom Gymnasium environment: ``morl-blocks train PASTA --env my_env.py:make_env``."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class Commute(gymnasium.Env[Floats, Floats]):
    """Drive to work: arrive early and save fuel."""

    observation_space = Box(0.0, 1.0, (2,), np.float32)
    action_space = Box(0.0, 1.0, (1,), np.float32)
    reward_space = Box(-1.0, 1.0, (2,), np.float32)  # one number per objective
    objectives = ("progress", "fuel")  # optional names
    horizon = 30  # a time limit, if the environment itself has none

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Start at home, with some traffic."""
        super().reset(seed=seed)
        self.place, self.traffic = 0.0, float(self.np_random.uniform(0.0, 0.5))
        return self._observe(), {}

    def step(self, action: Floats) -> tuple[Floats, Any, bool, bool, dict[str, Any]]:
        """Drive for a minute. The reward is a vector."""
        speed = float(np.clip(action[0], 0.0, 1.0)) * (1 - self.traffic)
        self.place = min(1.0, self.place + speed / 10)
        reward = np.array([speed / 10, -(speed**2) / 10], np.float32)
        return self._observe(), reward, self.place >= 1.0, False, {}

    def _observe(self) -> Floats:
        return np.array([self.place, self.traffic], np.float32)


def make_env() -> Commute:
    """Return one environment."""
    return Commute()
