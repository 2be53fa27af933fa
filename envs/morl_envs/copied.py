"""Protect a trainer from environments that write new numbers into tensors which they have already handed out."""

from typing import Any, cast

import torch
from torch import Tensor

from morl_envs import _names
from morl_envs.protocol import TensorEnv

NEEDED = ("reset_tensors", "step_tensors", "get_state", "set_state", *TensorEnv.__annotations__)
"""Methods and attributes that a trainer asks for, sooner or later."""


class CopiedEnv:
    """An environment whose observations, rewards and flags are copies.

    Many simulators reuse their output buffers. A rollout that keeps what ``step_tensors`` returned would then hold the
    last step many times over.

    Args:
        env: The environment; every other attribute is its own.

    Example:
        >>> from morl_envs import make_batch
        >>> env = CopiedEnv(make_batch("stealth", 2))
        >>> env.reset_tensors().shape, env.horizon
        (torch.Size([2, 30]), 400)
    """

    def __init__(self, env: TensorEnv) -> None:
        self._env = env

    def reset_tensors(self, mask: Tensor | None = None) -> Tensor:
        """Reset, and copy the observations."""
        observation: Tensor = _copy(self._env.reset_tensors(mask))
        return observation

    def step_tensors(self, action: Tensor) -> tuple[Tensor, ...]:
        """Step, and copy what comes back."""
        return tuple(_copy(part) for part in self._env.step_tensors(action))

    def __getattr__(self, name: str) -> Any:
        if name == "_env":
            raise AttributeError(name)
        return getattr(self._env, name)


def with_own_tensors(env: Any) -> TensorEnv:
    """Return an environment that is safe to keep the results of: itself when it says ``fresh_tensors``, else copied.

    Args:
        env: What should be a :class:`~morl_envs.protocol.TensorEnv`; anything else is refused with what it lacks.
    """
    missing = [name for name in NEEDED if not hasattr(env, name)]
    if missing:
        rule = "open a TensorEnv, with all of its methods and attributes"
        _names.fail("env", rule, f"{type(env).__name__} without {', '.join(missing)}")
    return cast("TensorEnv", env if getattr(env, "fresh_tensors", False) else CopiedEnv(env))


def _copy(value: Any) -> Any:
    """Copy a tensor; whatever else an environment returned is for the trainer to refuse."""
    return value.clone() if isinstance(value, torch.Tensor) else value
