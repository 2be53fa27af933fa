"""Truncate episodes before the environment's own time limit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor

from morl_envs import _checks, _names
from morl_envs.protocol import State, TensorEnv
from morl_envs.source import EnvSource, Make


class ShortenedEnv:
    """An environment whose episodes are truncated after fewer steps.

    Every other attribute is read from the environment. An episode that the environment terminates is not truncated.

    Args:
        env: The environment.
        horizon: Steps after which an episode is truncated; at least 1, and no more than the environment's own.

    Example:
        >>> from morl_envs import make_batch
        >>> env = ShortenedEnv(make_batch("stealth", 2), horizon=2)
        >>> _ = env.reset_tensors()
        >>> [env.step_tensors(torch.zeros(2, 2))[3].flatten().tolist() for _ in range(2)]
        [[False, False], [True, True]]
    """

    def __init__(self, env: TensorEnv, horizon: int) -> None:
        _checks.whole("horizon", horizon, 1)
        if horizon > env.horizon:
            _names.fail("horizon", f"be no more than the environment's own {env.horizon}", horizon)
        self._env, self.horizon = env, int(horizon)
        self._step: Tensor | None = None

    def reset_tensors(self, mask: Tensor | None = None) -> Tensor:
        """Start new episodes where ``mask`` is true (everywhere for ``None``); return all observations, ``[N, n]``."""
        observation = self._env.reset_tensors(mask)
        if self._step is None or mask is None:
            self._step = torch.zeros(self._env.num_envs, dtype=torch.int64, device=observation.device)
        else:
            self._step[mask.to(self._step.device).flatten()] = 0
        return observation

    def step_tensors(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Step all environments: observation ``[N, n]``, reward ``[N, m]``, terminated and truncated ``[N, 1]``."""
        if self._step is None:
            self.reset_tensors()
        observation, reward, terminated, truncated = self._env.step_tensors(action)
        steps = self._steps() + 1
        self._step = steps
        late = (steps >= self.horizon).unsqueeze(-1).to(truncated.device)
        return observation, reward, terminated, truncated | (late & ~terminated)

    def get_state(self) -> State:
        """Return the state of the environment, and the steps of the running episodes."""
        state = self._env.get_state()
        return {**state, "shortened_step": self._steps().clone()}

    def set_state(self, state: State) -> None:
        """Continue from a state of :meth:`get_state`."""
        self._env.set_state({name: tensor for name, tensor in state.items() if name != "shortened_step"})
        self._step = state["shortened_step"].clone()

    def _steps(self) -> Tensor:
        """Return the steps of the running episodes, 0 before the first."""
        return torch.zeros(self._env.num_envs, dtype=torch.int64) if self._step is None else self._step

    def __getattr__(self, name: str) -> Any:
        if name == "_env":
            raise AttributeError(name)
        return getattr(self._env, name)


def discounted_horizon(gamma: float, rest: float = 0.05) -> float:
    r"""Return the number of steps after which the discount falls to a share ``rest``: :math:`\gamma^H \le` rest.

    Infinite without a discount.

    Args:
        gamma: Discount, in ``[0, 1]``.
        rest: Remaining discount, in ``(0, 1)``.

    Example:
        >>> discounted_horizon(0.99), discounted_horizon(1.0)
        (299, inf)
    """
    if not 0 < rest < 1:
        _names.fail("rest", "lie in (0, 1)", rest)
    _checks.between("gamma", gamma, 0.0, 1.0)
    if gamma == 1:
        return math.inf
    return 1 if gamma == 0 else max(1, math.ceil(math.log(rest) / math.log(gamma)))


def shortened(source: EnvSource, horizon: int | None, gamma: float) -> EnvSource:
    """Return a complete source with its episodes cut off after ``horizon`` steps; ``None`` lets the discount decide."""
    limit = source.horizon or math.inf
    if horizon is not None:
        _checks.whole("horizon", horizon, 1)
    steps = min(discounted_horizon(gamma), limit) if horizon is None else horizon
    if steps > limit:
        _names.fail("horizon", f"be no more than the environment's own {limit}", horizon)
    return source if steps == limit else replace(source, make=_Shorter(source.make, int(steps)), horizon=int(steps))


@dataclass(frozen=True)
class _Shorter:
    """Open environments with shorter episodes."""

    make: Make
    horizon: int

    def __call__(self, num_envs: int, seeds: Sequence[int]) -> TensorEnv:
        return cast("TensorEnv", ShortenedEnv(self.make(num_envs, seeds), self.horizon))
