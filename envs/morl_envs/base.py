"""The base class of the three torch environments: TorchRL specs, masked reset, seeds, horizon, and a readable state."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from tensordict import TensorDict, TensorDictBase
from torch import Tensor
from torchrl.data import Bounded, Composite, Unbounded
from torchrl.envs import EnvBase

from morl_envs import _checks
from morl_envs.counter_rng import episode_key
from morl_envs.protocol import State


class Bounds(NamedTuple):
    """Smallest and largest observation and reward, one number per component."""

    observation_low: list[float]
    observation_high: list[float]
    reward_low: list[float]
    reward_high: list[float]


class Sizes(NamedTuple):
    """Sizes set by the options: steps per episode, the range of actions ``[a]`` and the size of an observation."""

    horizon: int
    action_low: Sequence[float]
    action_high: Sequence[float]
    observation_dim: int


class BatchedEnv(EnvBase):
    """N environments as tensors. A subclass defines the options, and how states are drawn, advanced and observed.

    Randomness is a function of (seed of the environment, number of the episode, counter), so environment ``k`` plays
    the same episodes whatever N is and whatever the other environments do. Actions out of range are clipped; actions
    that are not finite raise an error. An environment that is done must be reset before its next step.

    Args:
        batch_size: ``[N]``.
        seed: One integer (environment ``k`` gets ``seed + k``) or N of them. By default 0: environments made in two
            workers play the same episodes until ``set_seed`` gives them different seeds.
        device: Device of the tensors; the CPU by default.
        **options: Options of the environment, defined by each subclass.
    """

    objectives: tuple[str, ...]
    num_actions: int | None = None

    def __init__(
        self,
        batch_size: Sequence[int] | int = (1,),
        seed: int | Sequence[int] | Tensor = 0,
        device: torch.device | str | None = None,
        **options: Any,
    ) -> None:
        self.num_envs = _checks.batch(batch_size)
        super().__init__(device=_checks.device(device), batch_size=torch.Size([self.num_envs]))
        sizes = self.configure(**options)
        self.horizon, self.observation_dim, self.action_dim = (
            sizes.horizon,
            sizes.observation_dim,
            len(sizes.action_low),
        )
        self.action_low = torch.tensor(sizes.action_low, dtype=torch.float32, device=self.device)
        self.action_high = torch.tensor(sizes.action_high, dtype=torch.float32, device=self.device)
        self._make_specs()
        self._worlds: State = {}
        self._observation: Tensor | None = None
        self.seed_each(seed)

    @abstractmethod
    def configure(self, **options: Any) -> Sizes:
        """Store the options and the constants derived from them; return the sizes."""

    @abstractmethod
    def draw(self, key: Tensor) -> State:
        """Return the first state of new episodes with the given keys, every tensor ``[n, ...]``."""

    @abstractmethod
    def advance(self, state: State, action: Tensor) -> tuple[State, Tensor, Tensor]:
        """Return the changed tensors, the reward ``[N, m]`` and terminated ``[N]``, without changing the state."""

    @abstractmethod
    def observe(self, state: State) -> Tensor:
        """Return the observation ``[N, n]`` of a state."""

    @abstractmethod
    def describe(self, state: State) -> dict[str, Tensor]:
        """Return the events of the last step, for logs and pictures, every tensor ``[N]``."""

    @abstractmethod
    def bounds(self) -> Bounds:
        """Return the smallest and largest observations and rewards, as plain numbers."""

    def reset_tensors(self, mask: Tensor | None = None) -> Tensor:
        """Start new episodes where ``mask`` (bool, ``[N]`` or ``[N, 1]``) is true; return all observations."""
        if mask is None or self._observation is None:
            rows = torch.arange(self.num_envs, device=self.device)
        else:
            rows = _checks.mask(mask, self.num_envs).nonzero().squeeze(-1)
            if not len(rows):  # most steps end no episode
                return self._observation
        seed, episode = self._worlds["seed"][rows], self._worlds["episode"][rows]
        key = episode_key(seed, episode)
        fresh = {"seed": seed, "episode": episode + 1, "key": key, "step": torch.zeros_like(episode), **self.draw(key)}
        first = self.observe(fresh)
        if len(rows) == self.num_envs:
            self._worlds, self._observation = fresh, first
        elif self._observation is not None:
            self._worlds = {name: old.index_copy(0, rows, fresh[name]) for name, old in self._worlds.items()}
            self._observation = self._observation.index_copy(0, rows, first)
        return self.observation()

    def step_tensors(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Step all environments: observation ``[N, n]``, reward ``[N, m]``, terminated and truncated ``[N, 1]``."""
        self.observation()
        _checks.action(action, (self.num_envs, self.action_dim))
        action = action.to(torch.float32).clamp(self.action_low, self.action_high)
        changed, reward, terminated = self.advance(self._worlds, action)
        self._worlds = {**self._worlds, **changed, "step": self._worlds["step"] + 1}
        self._observation = self.observe(self._worlds)
        truncated = (self._worlds["step"] >= self.horizon) & ~terminated
        return self._observation, reward, terminated.unsqueeze(-1), truncated.unsqueeze(-1)

    def observation(self) -> Tensor:
        """Return the current observations, ``[N, n]``; resets first when there has been no reset yet."""
        if self._observation is None:
            return self.reset_tensors()
        return self._observation

    def get_state(self) -> State:
        """Return a copy of the complete state: the same actions then give the same future, bit for bit."""
        self.observation()
        return {name: tensor.clone() for name, tensor in self._worlds.items()}

    def set_state(self, state: State) -> None:
        """Continue from a state of :meth:`get_state` (of a batch of the same size and options)."""
        reference = self.get_state()
        if not isinstance(state, Mapping) or state.keys() != reference.keys():
            _checks.fail("state", f"have the keys {sorted(reference)}", repr(state)[:200])
        for name, tensor in state.items():
            if tensor.shape != reference[name].shape:
                _checks.fail(f"state[{name!r}]", f"have shape {list(reference[name].shape)}", list(tensor.shape))
        self._worlds = {name: state[name].to(self.device, tensor.dtype).clone() for name, tensor in reference.items()}
        self._observation = self.observe(self._worlds)

    def events(self) -> dict[str, Tensor]:
        """Return the events of the last step (:meth:`describe` of the current state)."""
        self.observation()
        return self.describe(self._worlds)

    def seed_each(self, seed: int | Sequence[int] | Tensor) -> None:
        """Set the seed of every environment; the next reset starts with their first episodes."""
        numbers = _checks.seeds(seed, self.num_envs).to(self.device)
        self._worlds = {"seed": numbers, "episode": torch.zeros_like(numbers)}
        self._observation = None

    def to(self, device: torch.device | str) -> "BatchedEnv":
        """Move the environment with all its state to another device."""
        super().to(device)
        self._worlds = {name: tensor.to(device) for name, tensor in self._worlds.items()}
        self._observation = None if self._observation is None else self._observation.to(device)
        self.action_low, self.action_high = self.action_low.to(device), self.action_high.to(device)
        self.move_constants(torch.device(device))
        return self

    def move_constants(self, device: torch.device) -> None:
        """Move tensors that a subclass precomputed; nothing by default."""

    def _make_specs(self) -> None:
        n, device = self.num_envs, self.device
        low, high = (bound.expand(n, -1).clone() for bound in (self.action_low, self.action_high))
        self.action_spec = Bounded(low=low, high=high, shape=(n, self.action_dim), dtype=torch.float32, device=device)
        self.observation_spec = Composite(
            observation=Unbounded(shape=(n, self.observation_dim), dtype=torch.float32, device=device), shape=(n,)
        )
        self.reward_spec = Unbounded(shape=(n, len(self.objectives)), dtype=torch.float32, device=device)
        flag = Bounded(low=0, high=1, shape=(n, 1), dtype=torch.bool, device=device)
        self.done_spec = Composite(
            done=flag.clone(), terminated=flag.clone(), truncated=flag.clone(), shape=(n,), device=device
        )

    def _reset(self, tensordict: TensorDictBase | None = None, **_: Any) -> TensorDictBase:
        mask = None if tensordict is None else tensordict.get("_reset", None)
        observation = self.reset_tensors(mask)
        quiet = torch.zeros(self.num_envs, 1, dtype=torch.bool, device=self.device)
        flags = {name: quiet.clone() for name in ("done", "terminated", "truncated")}
        return TensorDict({"observation": observation, **flags}, batch_size=self.batch_size, device=self.device)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        observation, reward, terminated, truncated = self.step_tensors(tensordict["action"])
        return TensorDict(
            {
                "observation": observation,
                "reward": reward,
                "terminated": terminated,
                "truncated": truncated,
                "done": terminated | truncated,
            },
            batch_size=self.batch_size,
            device=self.device,
        )

    def _set_seed(self, seed: int | None) -> None:
        self.seed_each(int(torch.seed() % 2**62) if seed is None else seed)
