"""The interface that the trainer uses: every environment batch, torch or Gymnasium, implements it."""

from typing import Protocol

import torch
from torch import Tensor

from morl_envs._names import fail

State = dict[str, Tensor]


class TensorEnv(Protocol):
    """N independent environments stepped as tensors, with reset by mask and a complete readable state.

    Attributes:
        num_envs: N.
        objectives: Names of the m objectives.
        observation_dim: Size of an observation.
        action_dim: Size of an action (1 for discrete actions).
        num_actions: Number of discrete actions; ``None`` when actions are continuous.
        action_low: Lowest action, ``[action_dim]``; ``None`` when actions are discrete.
        action_high: Highest action, ``[action_dim]``; ``None`` when actions are discrete.
        horizon: Steps after which an episode is truncated.

    An environment may reuse the tensors that it returns, because the trainer copies them. One that never does can
    declare ``fresh_tensors = True`` and avoid the copies.
    """

    num_envs: int
    objectives: tuple[str, ...]
    observation_dim: int
    action_dim: int
    num_actions: int | None
    action_low: Tensor | None
    action_high: Tensor | None
    horizon: int

    def reset_tensors(self, mask: Tensor | None = None) -> Tensor:
        """Start new episodes where ``mask`` is true (everywhere for ``None``); return all observations, ``[N, n]``."""
        ...

    def step_tensors(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Step all environments; none is reset, so a final observation is never lost.

        Args:
            action: ``[N, action_dim]`` float32, or ``[N]`` int64 for discrete actions. Clipped to the action space.

        Returns:
            observation ``[N, n]``, reward ``[N, m]``, terminated ``[N, 1]`` and truncated ``[N, 1]``.
        """
        ...

    def get_state(self) -> State:
        """Return a copy of the complete state, including random counters; leading dimension N."""
        ...

    def set_state(self, state: State) -> None:
        """Continue from a state of :meth:`get_state`, bit for bit."""
        ...


def check_playable(env: object, policy: object) -> None:
    """Require environments and a policy for them."""
    if not callable(getattr(env, "reset_tensors", None)):
        fail("env", "be a TensorEnv, such as one of make_batch", repr(env)[:200])
    if not callable(policy):
        fail("policy", "be a function from observations to actions", repr(policy)[:200])


def check_step(env: TensorEnv, result: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
    """Require of one step what :class:`TensorEnv` promises; anything else would be broadcast."""
    widths = (env.observation_dim, len(env.objectives), 1, 1)
    for name, tensor, width in zip(("observation", "reward", "terminated", "truncated"), result, widths, strict=True):
        if tensor.shape != (env.num_envs, width) or (tensor.dtype is torch.bool) != name.endswith("ated"):
            kind = "truth values" if name.endswith("ated") else "numbers"
            got = f"{list(tensor.shape)} of {tensor.dtype}"
            fail("env", f"return `{name}` as [{env.num_envs}, {width}] {kind} from step_tensors", got)
