"""The training data of the update, and its minibatches."""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from morl_blocks.ppo import vector_advantage
from morl_blocks.ppo.surrogate import largest_log_ratio


class Hyper(NamedTuple):
    """Hyperparameters of the update per run, each ``[R]``."""

    clip: Tensor
    value_coefficient: Tensor
    entropy_coefficient: Tensor
    max_gradient_norm: Tensor

    def runs(self, part: slice) -> "Hyper":
        """Return views of some of the runs."""
        return Hyper(*(tensor[part] for tensor in self))


class Samples(NamedTuple):
    """Training data of the update, each ``[*R, B, ...]``."""

    inputs: Tensor
    action: Tensor
    old_log_prob: Tensor
    advantage: Tensor
    target: Tensor
    attention: Tensor

    def take(self, rows: Tensor) -> "Samples":
        """Gather rows ``[K, R, B]`` of columns ``[R, N, ...]`` as K minibatches, ``[K, R, B, ...]``."""
        runs, size = self.inputs.shape[:2]
        places = (rows + torch.arange(runs, device=rows.device).unsqueeze(-1) * size).flatten()
        return Samples(*(c.flatten(0, 1).index_select(0, places).view(*rows.shape, *c.shape[2:]) for c in self))


class Minibatch(NamedTuple):
    """The numbers of one gradient step that do not depend on the parameters, each ``[R, B, ...]``.

    ``advantage`` is that of the actor's losses, ``[R, B, q]``, and ``attention`` that of the critic. The mean attention
    of the actor's losses is ``importance``, ``[R, q]``. A sample has a gradient while its ratio is between ``lowest``
    and ``highest``, ``[R, B, q]``.
    """

    inputs: Tensor
    action: Tensor
    old_log_prob: Tensor
    advantage: Tensor
    target: Tensor
    attention: Tensor
    importance: Tensor
    lowest: Tensor
    highest: Tensor


def prepare(samples: Samples, hyper: Hyper, weigh: Callable[[Samples], Samples], *, standardise: bool) -> Minibatch:
    """Compute all numbers of K minibatches, ``[K, R, B, ...]``, that do not depend on the parameters."""
    if standardise:
        samples = samples._replace(advantage=vector_advantage(samples.advantage))
    weighed = weigh(samples)
    clip, gains = hyper.clip.reshape(-1, 1, 1), weighed.advantage > 0
    # A ratio has no gradient where it is clamped; the factor covers the rounding of `exp`.
    largest = math.exp(largest_log_ratio(clip.dtype)) * (1 + 16 * torch.finfo(clip.dtype).eps)
    return Minibatch(
        *samples._replace(advantage=weighed.advantage),
        weighed.attention.mean(2),
        torch.where(gains, 0.0, 1 - clip),
        torch.where(gains, 1 + clip, largest),
    )


class Rows(NamedTuple):
    """A minibatch by its rows ``[R, B]`` of the samples."""

    samples: Samples
    rows: Tensor

    def gather(self, hyper: Hyper, weigh: Callable[[Samples], Samples], *, standardise: bool) -> Minibatch:
        """Return the minibatch."""
        prepared = prepare(self.samples.take(self.rows.unsqueeze(0)), hyper, weigh, standardise=standardise)
        return Minibatch(*(column.squeeze(0) for column in prepared))


def minibatches(
    samples: Samples, rows: Tensor, hyper: Hyper, weigh: Callable[[Samples], Samples], *, standardise: bool
) -> Iterator[Minibatch]:
    """Yield the minibatches of rows ``[K, R, B]`` of the samples; those of an epoch are prepared at once."""
    for epoch in rows.split(max(1, samples.inputs.shape[1] // rows.shape[-1])):
        prepared = prepare(samples.take(epoch), hyper, weigh, standardise=standardise)
        yield from map(Minibatch, *(column.unbind(0) for column in prepared))
