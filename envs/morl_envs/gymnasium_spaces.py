"""Conversion between a Gymnasium environment's spaces and tensors: observations, actions and vector rewards."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiDiscrete, Space
from gymnasium.spaces.utils import flatdim, flatten
from numpy.typing import NDArray

from morl_envs._names import fail

Floats = NDArray[np.float32]


class Observations:
    """Observations as flat vectors.

    A ``Box`` of any shape is flattened in C order and keeps its values, so an image of bytes stays in 0 to 255. A
    ``Discrete`` observation becomes a one-hot vector; other spaces are flattened by ``gymnasium.spaces.flatten``.

    Args:
        space: The observation space.
        env: Name of the environment, for messages.
        values: For a ``Box`` whose entries are codes without an order: the number of values of each entry, from 0.
            Every entry becomes a one-hot vector of that length.

    Attributes:
        shape: Shape of a ``Box``; ``(dim,)`` of any other space.
        dim: Size of an observation.

    Example:
        >>> states = Observations(Discrete(3), "my environment")
        >>> states.dim, states.flat(np.int64(1))
        (3, array([0, 1, 0]))
        >>> Observations(Box(0, 255, (2, 2, 3), np.uint8), "my camera").shape
        (2, 2, 3)
        >>> Observations(Box(0, 2, (2,), np.int32), "my tree", values=(2, 3)).flat(np.array([1, 2]))
        array([0, 1, 0, 0, 1])
    """

    def __init__(self, space: Space[Any], env: str, values: Sequence[int] | None = None) -> None:
        if not space.is_np_flattenable:
            fail("env", "have observations of a fixed size", f"{env} with {space}")
        if values is not None:
            if not isinstance(space, Box) or space.shape != (len(values),):
                fail("values", f"have one count per number of the observations of {env}", values)
            space = MultiDiscrete(list(values))
        self._codes = values is not None
        self._space = None if isinstance(space, Box) else space
        self.dim = int(flatdim(space))
        self.shape: tuple[int, ...] = tuple(space.shape) if isinstance(space, Box) else (self.dim,)
        self._env = env

    def flat(self, observation: Any) -> NDArray[Any]:
        """Return one observation as a vector ``[dim]``, possibly a view of the environment's own memory."""
        if self._space is not None:
            observation = flatten(self._space, np.asarray(observation, np.int64) if self._codes else observation)
        elif isinstance(observation, np.ndarray) and observation.shape == (self.dim,):
            return observation
        vector: NDArray[Any] = np.asarray(observation).reshape(-1)
        if len(vector) != self.dim:
            fail("observation", f"hold {self.dim} numbers in {self._env}", len(vector))
        return vector


class Actions(NamedTuple):
    """The actions of a policy.

    Attributes:
        dim: Size of an action; 1 for discrete ones.
        choices: Number of discrete actions; ``None`` when actions are continuous.
        low: Lowest action, ``[dim]`` or a single number.
        high: Highest action.
        dtype: Data type that the environment expects.
    """

    dim: int
    choices: int | None
    low: NDArray[Any]
    high: NDArray[Any]
    dtype: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one action: ``(dim,)``, or ``()`` for a discrete one."""
        return (self.dim,) if self.choices is None else ()


def read_actions(space: Space[Any], env: str) -> Actions:
    """Return the actions of a space; raise unless it is a bounded flat ``Box`` or a ``Discrete`` from 0.

    Example:
        >>> read_actions(Discrete(4), "my environment").choices
        4
    """
    if isinstance(space, Discrete) and space.start == 0:
        return Actions(1, int(space.n), np.asarray(0), np.asarray(int(space.n) - 1), np.int64)
    if not isinstance(space, Box) or len(space.shape) != 1 or not space.is_bounded():
        fail("env", "have bounded flat Box actions or Discrete ones from 0", f"{env} with {space}")
    return Actions(int(space.shape[0]), None, space.low, space.high, np.float32)


def count_objectives(env: Any, name: str) -> int:
    """Return the number of objectives from the environment's ``reward_space``, a flat ``Box``."""
    space = attribute(env, "reward_space")
    if space is None:
        fail("env", "have a vector reward", f"{name!r}, which has no `reward_space`")
    if not isinstance(space, Box) or len(space.shape) != 1:
        fail("env", "have a flat Box as `reward_space`", f"{name} with {space}")
    return int(space.shape[0])


def read_horizon(env: Any) -> int | None:
    """Return the environment's own time limit: its ``horizon``, or Gymnasium's time limit."""
    spec = getattr(env, "spec", None)
    limits = attribute(env, "horizon"), attribute(env, "_max_episode_steps"), getattr(spec, "max_episode_steps", None)
    return next((int(limit) for limit in limits if limit is not None), None)


def attribute(env: Any, name: str) -> Any:
    """Return an attribute of an environment or of an environment that it wraps; ``None`` when there is none."""
    while env is not None:
        if (value := getattr(env, name, None)) is not None:
            return value
        env = getattr(env, "env", None)
    return None
