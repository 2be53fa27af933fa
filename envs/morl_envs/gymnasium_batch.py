"""Any Gymnasium or MO-Gymnasium environment behind the tensor interface, one Python object per environment."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from gymnasium.wrappers import OrderEnforcing
from numpy.typing import NDArray
from torch import Tensor

from morl_envs import _checks
from morl_envs.counter_rng import episode_key
from morl_envs.protocol import State

LOOK_EVERY = 16


class GymnasiumBatch:
    """N environments stepped in a loop, with per-environment seeds, vector rewards and reset by mask.

    Every episode starts from ``reset(seed=hash(seed, episode))``, so environment ``k`` plays the same episodes whatever
    N is. The time limit is counted here and the environments run without Gymnasium's wrappers. No simulator can hand
    over its complete state in general; the state here is (seed, episode, actions of the running episode), and
    :meth:`set_state` replays these actions. That is exact for every environment that draws its randomness from
    ``np_random``, MuJoCo included. One that draws from NumPy's global generator instead (``minecart-v0`` does) can
    neither be repeated nor resumed exactly, and its environments depend on each other: a warning says so.

    Args:
        env_id: Registered environment with a flat ``Box`` observation and a ``Box`` or ``Discrete`` action.
        num_envs: N.
        seed: One number (environment ``k`` gets ``seed + k``) or N numbers.
        objectives: Names of the objectives; numbered when not given.
        horizon: Time limit; the registered one when not given.
        **options: Keyword arguments of the environment.

    Example:
        >>> env = GymnasiumBatch("deep-sea-treasure-v0", 2)
        >>> env.reset_tensors()
        tensor([[0., 0.],
                [0., 0.]])
        >>> env.step_tensors(torch.tensor([1, 3]))[1]
        tensor([[ 0.7000, -1.0000],
                [ 0.0000, -1.0000]])
    """

    def __init__(
        self,
        env_id: str,
        num_envs: int,
        seed: int | Sequence[int] | Tensor = 0,
        *,
        objectives: tuple[str, ...] | None = None,
        horizon: int | None = None,
        **options: Any,
    ) -> None:
        import mo_gymnasium  # noqa: F401 - registers its environments

        self.num_envs = _checks.batch(num_envs)
        limit = gymnasium.spec(env_id).max_episode_steps if horizon is None else horizon
        if limit is None:
            _checks.fail("horizon", f"be given, because {env_id} has no time limit", horizon)
        self.horizon = int(limit or 0)
        _checks.whole("horizon", self.horizon, 1)
        with warnings.catch_warnings():
            # Some environments build their spaces in double precision; nothing that a user here could act on.
            warnings.filterwarnings("ignore", message=".*precision lowered by casting.*")
            made = [
                gymnasium.make(env_id, max_episode_steps=-1, disable_env_checker=True, **options)
                for _ in range(self.num_envs)
            ]
        # Order is kept here, so the wrapper that watches it can go.
        self.envs: list[Any] = [env.env if isinstance(env, OrderEnforcing) else env for env in made]
        self._read_spaces(env_id)
        count = int(self.envs[0].get_wrapper_attr("reward_space").shape[0])
        self.objectives = objectives or tuple(f"objective {i}" for i in range(count))
        if len(self.objectives) != count:
            _checks.fail("objectives", f"name the {count} objectives of {env_id}", self.objectives)
        self._observation = np.zeros((self.num_envs, self.observation_dim), np.float32)
        self._history = np.zeros((self.num_envs, self.horizon, *self._action_shape), self._action_dtype)
        self._step = np.zeros(self.num_envs, np.int64)
        self._rows = np.arange(self.num_envs)
        self._started, self._warned, self._calls, self._env_id = False, False, 0, env_id
        self.seed_each(seed)

    def seed_each(self, seed: int | Sequence[int] | Tensor) -> None:
        """Give every environment its seed and begin again with its first episode at the next reset."""
        self._seed = _checks.seeds(seed, self.num_envs)
        self._episode = torch.zeros_like(self._seed)
        self._started = False

    def reset_tensors(self, mask: Tensor | None = None) -> Tensor:
        """Start new episodes where ``mask`` is true (everywhere for ``None``); return all observations, ``[N, n]``."""
        chosen = torch.ones(self.num_envs, dtype=torch.bool)
        if mask is not None and self._started:
            chosen = _checks.mask(mask, self.num_envs)
        self._started = True
        self._begin(chosen.nonzero().squeeze(-1))
        self._episode += chosen
        return torch.from_numpy(self._observation.copy())

    def step_tensors(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Step all environments: observation ``[N, n]``, reward ``[N, m]``, terminated and truncated ``[N, 1]``."""
        if not self._started:
            self.reset_tensors()
        actions = self._clip(action)
        with self._watch():
            results = [env.step(one) for env, one in zip(self.envs, actions, strict=True)]
        observations, rewards, ended, cut, _ = zip(*results, strict=True)
        self._observation = np.array(observations, np.float32)
        self._history[self._rows, np.minimum(self._step, self.horizon - 1)] = actions
        self._step += 1
        terminated = np.array(ended, np.bool_)
        truncated = (np.array(cut, np.bool_) | (self._step >= self.horizon)) & ~terminated
        return (
            torch.from_numpy(self._observation.copy()),
            torch.from_numpy(np.array(rewards, np.float32)),
            torch.from_numpy(terminated[:, None]),
            torch.from_numpy(truncated[:, None]),
        )

    def get_state(self) -> State:
        """Return seeds, episode numbers and the actions of the running episodes."""
        if not self._started:
            self.reset_tensors()
        return {
            "seed": self._seed.clone(),
            "episode": self._episode.clone(),
            "step": torch.from_numpy(self._step.copy()),
            "history": torch.from_numpy(self._history.copy()),
        }

    def set_state(self, state: State) -> None:
        """Replay the running episodes of a state from :meth:`get_state`; exact, at the cost of these steps."""
        reference = self.get_state()
        if state.keys() != reference.keys() or any(state[name].shape != reference[name].shape for name in reference):
            shapes = {name: list(tensor.shape) for name, tensor in reference.items()}
            _checks.fail("state", f"have the shapes {shapes}", {name: list(state[name].shape) for name in state})
        self._seed, self._episode = state["seed"].clone(), state["episode"].clone()
        history, steps = state["history"].numpy(), state["step"].tolist()
        self._episode -= 1
        self._begin(torch.arange(self.num_envs))
        self._episode += 1
        for row, env in enumerate(self.envs):
            for action in history[row, : steps[row]]:
                self._observation[row] = env.step(action)[0]
        self._history, self._step = history.copy(), np.asarray(steps, np.int64)

    def close(self) -> None:
        """Free the simulators."""
        for env in self.envs:
            env.close()

    def _begin(self, rows: Tensor) -> None:
        """Reset some environments, each with the seed of its episode."""
        keys = episode_key(self._seed[rows], self._episode[rows]) & (2**62 - 1)
        with self._watch():
            for row, key in zip(rows.tolist(), keys.tolist(), strict=True):
                self._observation[row] = self.envs[row].reset(seed=key)[0]
                self._step[row] = 0

    @contextmanager
    def _watch(self) -> Iterator[None]:
        """Warn of environments that use NumPy's global generator; look now and then, for looking is slow."""
        self._calls += 1
        look = not self._warned and self._calls % LOOK_EVERY == 0
        before = _global_draws() if look else None
        yield
        if look and _global_draws() != before:
            self._warned = True
            warnings.warn(
                f"{self._env_id} draws from NumPy's global random generator, not from its own `np_random`: it gives "
                "other numbers each time, and a resumed training differs from an uninterrupted one.",
                stacklevel=4,
            )

    def _clip(self, action: Tensor) -> NDArray[Any]:
        """Check actions and return them as the environments want them, clipped to the action space."""
        numbers = action.numpy()
        # In NumPy, not torch: after a simulator's step the caches are cold, and every torch call pays for it.
        if numbers.shape != (self.num_envs, *self._action_shape) or not np.isfinite(numbers).all():
            _checks.action(action, (self.num_envs, *self._action_shape))
        clipped: NDArray[Any] = np.minimum(np.maximum(numbers, self._low), self._high).astype(self._action_dtype)
        return clipped

    def _read_spaces(self, env_id: str) -> None:
        """Take the sizes of observations and actions from the first environment."""
        observation, action = self.envs[0].observation_space, self.envs[0].action_space
        if not isinstance(observation, Box) or len(observation.shape) != 1:
            raise ValueError(f"`env_id` must have flat Box observations, got {env_id} with {observation}.")
        self.observation_dim = int(observation.shape[0])
        self.num_actions: int | None = None
        self._action_shape: tuple[int, ...] = ()
        self.action_low: Tensor | None = None
        self.action_high: Tensor | None = None
        if isinstance(action, Discrete) and action.start == 0:
            self.num_actions, self.action_dim = int(action.n), 1
            self._low, self._high = np.asarray(0), np.asarray(self.num_actions - 1)
            self._action_dtype: Any = np.int64
        elif isinstance(action, Box) and len(action.shape) == 1 and action.is_bounded():
            self.action_dim, self._action_shape = int(action.shape[0]), (int(action.shape[0]),)
            self._action_dtype, self._low, self._high = np.float32, action.low, action.high
            self.action_low, self.action_high = torch.from_numpy(action.low), torch.from_numpy(action.high)
        else:
            raise ValueError(f"`env_id` must have bounded flat Box or Discrete actions, got {env_id} with {action}.")


def _global_draws() -> tuple[int, int]:
    """Return where NumPy's global generator stands; it moves with every draw."""
    state: Any = np.random.get_state(legacy=False)  # noqa: NPY002 - watched, not used
    return int(state["state"]["pos"]), int(state["has_gauss"])
