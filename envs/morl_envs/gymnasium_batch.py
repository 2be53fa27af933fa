"""Any Gymnasium or MO-Gymnasium environment behind the tensor interface, one Python object per environment."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.wrappers import OrderEnforcing
from numpy.typing import NDArray
from torch import Tensor

from morl_envs import _checks
from morl_envs.counter_rng import episode_key
from morl_envs.gymnasium_spaces import Floats, Observations, attribute, count_objectives, read_actions, read_horizon
from morl_envs.mujoco_robots import mujoco_robots
from morl_envs.protocol import State
from morl_envs.quiet import quietly

LOOK_EVERY = 16
Counts = NDArray[np.int64]


class GymnasiumBatch:
    """N environments stepped in a loop, with seeds per environment, vector rewards and reset by mask.

    The MuJoCo robots of MO-Gymnasium, opened by id and without options, are stepped together
    (:class:`~morl_envs.mujoco_robots.MujocoRobots`); every number stays the same to the bit.

    Every episode starts from ``reset(seed=hash(seed, episode))``, so environment ``k`` plays the same episodes whatever
    N is. This class counts the time limit, and the environments run without Gymnasium's wrappers. Simulators cannot
    return their complete state in general. The state here is (seed, episode, actions of the running episode), and
    :meth:`set_state` replays these actions. That is exact for every environment that draws its randomness from
    ``np_random``, including MuJoCo. An environment that draws from NumPy's global generator instead (such as
    ``minecart-v0``) can be neither repeated nor resumed exactly, and its copies depend on each other; a warning says
    so.

    Observations are flat: see :class:`~morl_envs.gymnasium_spaces.Observations` for images and discrete ones. Results
    of an environment are copied at once, so it may reuse its buffers. They are not corrected: a NaN stays NaN.

    Args:
        env: Registered id, or a function or class that makes one environment. Rewards are vectors (``reward_space``),
            actions a bounded ``Box`` or ``Discrete``.
        num_envs: N.
        seed: One number (environment ``k`` gets ``seed + k``) or N numbers.
        objectives: Names of the objectives; by default the environment's own ``objectives``, or ``objective_0``,
            ``objective_1``, ...
        horizon: Time limit; by default the registered one, or the environment's own ``horizon``.
        values: For observations that are codes: the number of values of each entry; they become one-hot vectors.
        **options: Keyword arguments of the environment.

    Attributes:
        observation_shape: Shape of an observation before it was flattened to ``observation_dim`` numbers.

    Example:
        >>> env = GymnasiumBatch("deep-sea-treasure-v0", 2)
        >>> env.reset_tensors()
        tensor([[0., 0.],
                [0., 0.]])
        >>> env.step_tensors(torch.tensor([1, 3]))[1]
        tensor([[ 0.7000, -1.0000],
                [ 0.0000, -1.0000]])
    """

    fresh_tensors = True

    def __init__(
        self,
        env: str | Callable[..., Any],
        num_envs: int,
        seed: int | Sequence[int] | Tensor = 0,
        *,
        objectives: Sequence[str] | None = None,
        horizon: int | None = None,
        values: Sequence[int] | None = None,
        **options: Any,
    ) -> None:
        self.num_envs = _checks.batch(num_envs, "num_envs")
        self._name = env if isinstance(env, str) else getattr(env, "__name__", type(env).__name__)
        if not callable(env) and not isinstance(env, str):
            _checks.fail("env", "be a registered id or a function that makes an environment", repr(env))
        if objectives is not None:
            _checks.texts("objectives", objectives)
        registered = _spec(env).max_episode_steps if isinstance(env, str) else None
        self.envs: list[Any] = _make(env, self.num_envs, options)
        self._robots = mujoco_robots(self.envs) if isinstance(env, str) else None
        limits = (horizon, registered, read_horizon(self.envs[0]))
        self.horizon = self._limit(next((limit for limit in limits if limit is not None), None))
        self._read_spaces(objectives, values)
        self._observation = np.zeros((self.num_envs, self.observation_dim), np.float32)
        self._history = np.zeros((self.num_envs, self.horizon, *self._actions.shape), self._actions.dtype)
        self._step = np.zeros(self.num_envs, np.int64)
        self._rows = np.arange(self.num_envs)
        self._started, self._warned, self._calls = False, False, 0
        self.seed_each(seed)

    def seed_each(self, seed: int | Sequence[int] | Tensor) -> None:
        """Set the seed of every environment; the next reset starts with their first episodes."""
        self._seed: Counts = _checks.seeds(seed, self.num_envs).numpy()
        self._episode: Counts = np.zeros_like(self._seed)
        self._started = False

    def reset_tensors(self, mask: Tensor | None = None) -> Tensor:
        """Start new episodes where ``mask`` is true (everywhere for ``None``); return all observations, ``[N, n]``."""
        rows = self._rows
        if mask is not None and self._started:
            flags = mask.numpy() if isinstance(mask, Tensor) else np.zeros(0)  # faster to read than a tensor
            if flags.dtype != np.bool_ or flags.shape not in ((self.num_envs,), (self.num_envs, 1)):
                _checks.mask(mask, self.num_envs)
            rows = np.flatnonzero(flags)
        self._started = True
        self._begin(rows)
        self._episode[rows] += 1
        return torch.from_numpy(self._observation.copy())

    def step_tensors(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Step all environments: observation ``[N, n]``, reward ``[N, m]``, terminated and truncated ``[N, 1]``."""
        if not self._started:
            self.reset_tensors()
        actions = self._clip(action)
        cut: Any = False
        if self._robots is not None:
            observation, reward, terminated = self._robots.step(actions)
        else:
            with self._watch():
                observation, reward, terminated, cut = self._step_each(actions)
        self._observation = observation
        self._history[self._rows, np.minimum(self._step, self.horizon - 1)] = actions
        self._step += 1
        truncated = ((self._step >= self.horizon) | cut) & ~terminated
        return (
            torch.from_numpy(observation.copy()),
            torch.from_numpy(reward),
            torch.from_numpy(terminated[:, None]),
            torch.from_numpy(truncated[:, None]),
        )

    def get_state(self) -> State:
        """Return seeds, episode numbers and the actions of the running episodes."""
        if not self._started:
            self.reset_tensors()
        return {
            "seed": torch.from_numpy(self._seed.copy()),
            "episode": torch.from_numpy(self._episode.copy()),
            "step": torch.from_numpy(self._step.copy()),
            "history": torch.from_numpy(self._history.copy()),
        }

    def set_state(self, state: State) -> None:
        """Replay the running episodes of a state from :meth:`get_state`; exact, but it costs these steps."""
        reference = self.get_state()
        shapes, given = _shapes(reference), _shapes(state) if isinstance(state, Mapping) else repr(state)[:200]
        if shapes != given:
            _checks.fail("state", f"have the shapes {shapes}", given)
        self._seed, self._episode = state["seed"].numpy().copy(), state["episode"].numpy() - 1
        history, steps = state["history"].numpy(), state["step"].tolist()
        self._begin(self._rows)
        self._episode += 1
        for row, env in enumerate(self.envs):
            for action in history[row, : steps[row]]:
                self._observation[row] = self._observations.flat(env.step(action)[0])
        self._history, self._step = history.copy(), np.asarray(steps, np.int64)

    def close(self) -> None:
        """Close the simulators."""
        for env in self.envs:
            env.close()

    def _begin(self, rows: Counts) -> None:
        """Reset some environments, each with the seed of its episode."""
        keys = episode_key(self._seed[rows], self._episode[rows]) & (2**62 - 1)
        self._step[rows] = 0
        if self._robots is not None:
            self._observation[rows] = self._robots.reset(rows.tolist(), keys.tolist())
            return
        with self._watch():
            for row, key in zip(rows.tolist(), keys.tolist(), strict=True):
                self._observation[row] = self._observations.flat(self.envs[row].reset(seed=key)[0])

    @contextmanager
    def _watch(self) -> Iterator[None]:
        """Warn about environments that use NumPy's global generator; the check is slow, so it runs rarely."""
        self._calls += 1
        look = not self._warned and self._calls % LOOK_EVERY == 0
        before = _global_draws() if look else None
        yield
        if look and _global_draws() != before:
            self._warned = True
            warnings.warn(
                f"{self._name} draws from NumPy's global random generator, not from its own `np_random`: it gives "
                "other numbers each time, and a resumed training differs from an uninterrupted one.",
                stacklevel=4,
            )

    def _step_each(self, actions: NDArray[Any]) -> tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """Step one by one; each result is copied before another environment can write into the same memory."""
        shape = (len(self.objectives),)
        observation = np.empty((self.num_envs, self.observation_dim), np.float32)
        rewards = np.empty((self.num_envs, *shape), np.float32)
        ended, cut = np.empty(self.num_envs, np.bool_), np.empty(self.num_envs, np.bool_)
        for row, env in enumerate(self.envs):
            seen, reward, over, late, _ = env.step(actions[row])
            if (reward.shape if isinstance(reward, np.ndarray) else np.shape(reward)) != shape:
                _checks.fail("reward", f"hold {shape[0]} numbers in {self._name}", f"shape {np.shape(reward)}")
            for name, flag in (("terminated", over), ("truncated", late)):
                if flag is not True and flag is not False and not isinstance(flag, np.bool_):
                    _checks.fail(name, f"be a bool in {self._name}", repr(flag))
            ended[row], cut[row] = over, late
            observation[row], rewards[row] = self._observations.flat(seen), reward
        return observation, rewards, ended, cut

    def _clip(self, action: Tensor) -> NDArray[Any]:
        """Check actions and return them as the environments expect them, clipped to the action space."""
        if not isinstance(action, Tensor) or action.is_complex():
            _checks.action(action, (self.num_envs, *self._actions.shape))
        numbers, kind = action.numpy(), self._actions
        # Uses NumPy, not torch: after a simulator's step the caches are cold, which makes every torch call slow.
        if numbers.shape != (self.num_envs, *kind.shape) or not np.isfinite(numbers).all():
            _checks.action(action, (self.num_envs, *kind.shape))
        clipped: NDArray[Any] = np.minimum(np.maximum(numbers, kind.low), kind.high).astype(kind.dtype, copy=False)
        return clipped

    def _read_spaces(self, objectives: Sequence[str] | None, values: Sequence[int] | None) -> None:
        """Read sizes and names from the first environment."""
        first, name = self.envs[0], self._name
        count = count_objectives(first, name)
        own = attribute(first, "objectives")
        numbered = [f"objective_{i}" for i in range(count)]
        self.objectives = tuple(objectives or (own if isinstance(own, (list, tuple)) else numbered))
        if len(self.objectives) != count:
            _checks.fail("objectives", f"name the {count} objectives of {name}", self.objectives)
        self._observations = Observations(first.observation_space, name, values)
        self.observation_dim, self.observation_shape = self._observations.dim, self._observations.shape
        kind = self._actions = read_actions(first.action_space, name)
        self.action_dim, self.num_actions = kind.dim, kind.choices
        continuous = kind.choices is None
        self.action_low: Tensor | None = torch.from_numpy(kind.low) if continuous else None
        self.action_high: Tensor | None = torch.from_numpy(kind.high) if continuous else None

    def _limit(self, limit: int | None) -> int:
        """Require a time limit."""
        if limit is None:
            rule = f"be given, because {self._name} has no time limit: set it as an attribute of the environment"
            _checks.fail("horizon", rule, limit)
        _checks.whole("horizon", limit, 1)
        return int(limit)


def _spec(env: str) -> Any:
    import mo_gymnasium  # noqa: F401 - registers its environments

    try:
        return gymnasium.spec(env)
    except gymnasium.error.Error as error:
        raise ValueError(f"`env` must be a registered id, got {env!r} ({error}).") from error


def _make(env: str | Callable[..., Any], count: int, options: dict[str, Any]) -> list[Any]:
    """Make environments; registered ones without the wrappers for time limit and order, which this batch handles."""
    with quietly(_spec(env) if isinstance(env, str) else env):
        if not isinstance(env, str):
            return [_one(env, options) for _ in range(count)]
        settings = {"max_episode_steps": -1, "disable_env_checker": True, **options}
        made = [gymnasium.make(env, **settings) for _ in range(count)]
    return [each.env if isinstance(each, OrderEnforcing) else each for each in made]


def _shapes(state: Mapping[str, Any]) -> dict[str, list[int] | None]:
    return {name: list(tensor.shape) if isinstance(tensor, Tensor) else None for name, tensor in state.items()}


def _one(env: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Make one environment of a user's function."""
    made = env(**options)
    if not callable(getattr(made, "step", None)):
        _checks.fail("env", "make a Gymnasium environment", repr(made))
    return made


def _global_draws() -> tuple[int, int]:
    """Return the position of NumPy's global generator, which changes with every draw."""
    state: Any = np.random.get_state(legacy=False)  # noqa: NPY002 - read, not used
    return int(state["state"]["pos"]), int(state["has_gauss"])
