"""The rollout as one packed tensor, so that a minibatch of all runs needs one gather operation."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from morl_blocks.ppo import vector_advantage


class Minibatch(NamedTuple):
    """Training data of the update, each ``[R, B, ...]``."""

    inputs: Tensor
    action: Tensor
    old_log_prob: Tensor
    advantage: Tensor
    target: Tensor
    attention: Tensor


class Hyper(NamedTuple):
    """Hyperparameters of the update per run, each ``[R]``."""

    clip: Tensor
    value_coefficient: Tensor
    entropy_coefficient: Tensor
    max_gradient_norm: Tensor

    def runs(self, part: slice) -> "Hyper":
        """Return views of some of the runs."""
        return Hyper(*(tensor[part] for tensor in self))


class Columns(NamedTuple):
    """Widths of the columns of a packed rollout ``[R, N, sum]``.

    ``discrete`` actions are stored as floats; with ``standardise`` advantages are standardised per minibatch.
    """

    widths: tuple[int, ...]
    discrete: bool = False
    standardise: bool = False

    def pack(self, parts: Minibatch) -> Tensor:
        """Concatenate the columns, ``[R, N, sum]``."""
        columns = parts._replace(
            action=encode(parts.action, discrete=self.discrete), old_log_prob=parts.old_log_prob.unsqueeze(-1)
        )
        return torch.cat(columns, dim=-1)

    def unpack(self, data: Tensor) -> Minibatch:
        """Return the columns of packed data, ``[R, B, sum]``."""
        parts = Minibatch(*data.split(list(self.widths), dim=-1))
        return parts._replace(
            action=decode(parts.action, discrete=self.discrete), old_log_prob=parts.old_log_prob.squeeze(-1)
        )

    def take(self, data: Tensor, rows: Tensor) -> Minibatch:
        """Gather a minibatch: rows ``[R, B]`` of ``data`` flattened to ``[R * N, sum]``."""
        chosen = data.flatten(0, 1).index_select(0, rows.flatten()).unflatten(0, rows.shape)
        parts = self.unpack(chosen)
        return parts._replace(advantage=vector_advantage(parts.advantage)) if self.standardise else parts


def columns(parts: Minibatch, *, discrete: bool, standardise: bool) -> Columns:
    """Compute the widths of unpacked columns."""
    widths = [1 if name == "old_log_prob" else part.shape[-1] for name, part in parts._asdict().items()]
    if discrete:
        widths[Minibatch._fields.index("action")] = 1
    return Columns(tuple(widths), discrete, standardise)


def encode(action: Tensor, *, discrete: bool) -> Tensor:
    """Return actions as numbers ``[*B, a]``: indices ``[*B]`` become one column."""
    return action.unsqueeze(-1).to(torch.get_default_dtype()) if discrete else action


def decode(action: Tensor, *, discrete: bool) -> Tensor:
    """Invert :func:`encode`."""
    return action.squeeze(-1).to(torch.int64) if discrete else action


def flatten(output: Any, start: int, end: int) -> Any:
    """Flatten dimensions of an actor's output, one tensor or a tuple."""
    if isinstance(output, Tensor):
        return output.flatten(start, end)
    return tuple(part.flatten(start, end) for part in output)
