"""Protect a trainer from environments that overwrite tensors which they have already returned."""

from typing import Any, cast

import torch
from torch import Tensor

from morl_envs import _names
from morl_envs.protocol import TensorEnv

NEEDED = ("reset_tensors", "step_tensors", "get_state", "set_state", *TensorEnv.__annotations__)
"""Methods and attributes that a trainer uses."""


class CopiedEnv:
    """An environment whose observations, rewards and flags are copies.

    Many simulators reuse their output buffers. A rollout that stores the results of ``step_tensors`` would then hold
    the last step many times.

    Args:
        env: The environment; all other attributes are read from it.

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
        """Step, and copy the results."""
        return tuple(_copy(part) for part in self._env.step_tensors(action))

    def __getattr__(self, name: str) -> Any:
        if name == "_env":
            raise AttributeError(name)
        return getattr(self._env, name)


def with_own_tensors(env: Any) -> TensorEnv:
    """Return an environment whose results can be kept: itself if it has ``fresh_tensors``, else a copying wrapper.

    Args:
        env: A :class:`~morl_envs.protocol.TensorEnv`; anything else raises an error that lists what it lacks.
    """
    missing = [name for name in NEEDED if not hasattr(env, name)]
    if missing:
        rule = "open a TensorEnv, with all of its methods and attributes"
        _names.fail("env", rule, f"{type(env).__name__} without {', '.join(missing)}")
    return cast("TensorEnv", env if getattr(env, "fresh_tensors", False) else CopiedEnv(env))


def _copy(value: Any) -> Any:
    """Copy a tensor; return anything else unchanged, so that the trainer can raise an error about it."""
    return value.clone() if isinstance(value, torch.Tensor) else value
