"""One torch environment as a Gymnasium environment with vector reward, as MO-Gymnasium expects it."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from morl_envs import _checks
from morl_envs.rendering.scene import Scene
from morl_envs.rendering.screen import Screen
from morl_envs.worlds import create_world

Array = NDArray[np.float32]


def spaces_of(world: Any) -> tuple[Box, Box, Box]:
    """Return the observation, action and reward space of a torch environment."""
    bounds = world.bounds()
    observation = Box(np.float32(bounds.observation_low), np.float32(bounds.observation_high))
    action = Box(world.action_low.numpy(), world.action_high.numpy())
    return observation, action, Box(np.float32(bounds.reward_low), np.float32(bounds.reward_high))


class SingleEnv(gymnasium.Env[Array, Array]):
    """One torch environment (N = 1) behind Gymnasium's interface.

    ``reset(seed=s)`` starts the first episode of environment seed ``s``, which environment ``k = s`` of a torch batch
    with seed 0 plays too; further resets without a seed continue with the next episodes.

    Args:
        world: Class name or import path of the environment; set by the registration.
        render_mode: ``None``, ``"rgb_array"`` or ``"human"``.
        **options: Options of the environment.

    Example:
        >>> import gymnasium, morl_envs
        >>> env = gymnasium.make("morl_envs/StealthVisualSearch-v0", horizon=100)
        >>> observation, info = env.reset(seed=0)
        >>> env.step(env.action_space.sample())[1].shape
        (3,)
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "human"], "render_fps": 20}  # noqa: RUF012 - Gymnasium's

    def __init__(self, world: str = "StealthVisualSearch", render_mode: str | None = None, **options: Any) -> None:
        self.world = create_world(world, batch_size=[1], **options)
        self.observation_space: Any
        self.action_space: Any
        self.observation_space, self.action_space, self.reward_space = spaces_of(self.world)
        self.objectives, self.horizon = self.world.objectives, self.world.horizon
        self.reward_dim = len(self.objectives)
        self.render_mode = render_mode
        self._seeded = False
        self._scene = None if render_mode is None else Scene(self.world)
        self._screen = Screen(self.metadata["render_fps"]) if render_mode == "human" else None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Start an episode; the same seed gives the same episode."""
        if seed is not None:
            _checks.whole("seed", seed, 0)
        super().reset(seed=seed, options=options)
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(2**31))
        if seed is not None:
            self.world.seed_each(seed)
            self._seeded = True
        observation = self.world.reset_tensors()
        self._draw()
        return observation[0].numpy().copy(), self._info()

    def step(self, action: Array) -> tuple[Array, Array, bool, bool, dict[str, Any]]:
        """Step once; the reward is a vector with one number per objective."""
        command = _checks.command(action).unsqueeze(0)
        observation, reward, terminated, truncated = self.world.step_tensors(command)
        self._draw(reward[0].tolist())
        return observation[0].numpy().copy(), reward[0].numpy(), bool(terminated), bool(truncated), self._info()

    def render(self) -> NDArray[np.uint8] | None:
        """Return the picture of the current step (``"rgb_array"``); ``"human"`` shows every step automatically."""
        return self._scene.frame() if self._scene is not None and self._screen is None else None

    def close(self) -> None:
        """Close the window, if one is open."""
        if self._screen is not None:
            self._screen.close()

    def _info(self) -> dict[str, Any]:
        return {name: value[0].item() for name, value in self.world.events().items()}

    def _draw(self, reward: list[float] | None = None) -> None:
        """Add the current step to the trail, and show it in the window."""
        if self._scene is not None:
            self._scene.record(reward)
            if self._screen is not None:
                self._screen.show(self._scene.frame())
