"""A batch of one torch environment as a Gymnasium vector environment, stepped as tensors."""

from typing import Any

import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from morl_envs import _checks
from morl_envs.gymnasium_env import Array, spaces_of
from morl_envs.worlds import create_world


class BatchVectorEnv(VectorEnv[Array, Array, NDArray[Any]]):
    """N torch environments stepped together, reset on the step after the end (Gymnasium's ``NEXT_STEP``).

    Args:
        num_envs: N.
        world: Class name or import path of the environment; set by the registration.
        **options: Options of the environment.

    Example:
        >>> import gymnasium, morl_envs
        >>> envs = gymnasium.make_vec("morl_envs/CrazyflieFrogger-v0", num_envs=8)
        >>> observation, info = envs.reset(seed=0)
        >>> envs.step(envs.action_space.sample())[1].shape
        (8, 3)
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, num_envs: int = 1, world: str = "StealthVisualSearch", **options: Any) -> None:
        self.num_envs = num_envs
        self.world = create_world(world, batch_size=[num_envs], **options)
        self.single_observation_space, self.single_action_space, self.reward_space = spaces_of(self.world)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._done = torch.zeros(num_envs, 1, dtype=torch.bool)
        self._seeded = False

    def reset(
        self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start all episodes; environment ``k`` gets ``seed + k``."""
        super().reset(seed=seed if isinstance(seed, int) else None, options=options)
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(2**31))
        if seed is not None:
            self.world.seed_each(seed)
            self._seeded = True
        self._done = torch.zeros_like(self._done)
        return self.world.reset_tensors().numpy().copy(), {}

    def step(self, actions: Array) -> tuple[Array, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Step all environments; those that ended in the step before are reset instead, with reward 0."""
        command = _checks.command(actions, "actions")
        observation, reward, terminated, truncated = self.world.step_tensors(command)
        if bool(self._done.any()):
            observation = self.world.reset_tensors(self._done)
            reward, terminated, truncated = reward * ~self._done, terminated & ~self._done, truncated & ~self._done
        self._done = terminated | truncated
        return (
            observation.numpy().copy(),
            reward.numpy(),
            terminated.squeeze(-1).numpy(),
            truncated.squeeze(-1).numpy(),
            {},
        )
