"""The base class of combiners: weights from the Gramian, then one weighted sum of the gradients."""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import torch
from torch import Generator, Tensor, nn

from morl_blocks import _checks
from morl_blocks.combiners.conflict import pair_conflict
from morl_blocks.combiners.gramian import gramian_of


class Merged(NamedTuple):
    """A combined gradient ``[*R, P]``, the weights ``[*R, m]`` that gave it, and the conflict ratio ``[*R]``.

    ``weights`` are NaN for the few TorchJD aggregators that do not weigh whole gradients.
    """

    gradient: Tensor
    weights: Tensor
    conflict: Tensor


class Weighed(NamedTuple):
    """The weight of each gradient, ``[*R, m]``, and the conflict ratio before the combination, ``[*R]``."""

    weights: Tensor
    conflict: Tensor


class Combiner(nn.Module, ABC):
    r"""Combine m objective gradients into one update, :math:`c^\top J`, where c depends only on :math:`G = J J^\top`.

    Signs are those of autograd: gradients of losses are combined into a gradient to descend along.

    To write a combiner, implement :meth:`combine`. If it needs random numbers, draw them in :meth:`draw`; ``combine``
    receives them as ``noise``, so that it stays a pure function. Nothing else is needed. The combiner then works on one
    Gramian or a batch of runs, in your own loop and in the recipes.

    Attributes:
        needs_attention: Whether :meth:`combine` uses the attention; if so, :meth:`weights` requires it.
        batched: Whether :meth:`combine` takes ``[*R, m, m]`` at once and can be compiled. With ``False`` it gets one
            Gramian ``[m, m]`` at a time, and callers loop over the runs.
        groups: Number of groups of similar preferences. With more than one, trainers pass one gradient per group and
            objective, from samples that are already weighted by their own attention.

    Example:
        >>> class Normalised(Combiner):
        ...     '''Give every gradient the length 1 before the sum.'''
        ...     def combine(self, gramian, attention, noise):
        ...         return gramian.diagonal(dim1=-2, dim2=-1).rsqrt()
        >>> Normalised()(torch.tensor([[3.0, 0.0], [0.0, 0.1]]))
        tensor([1., 1.])
    """

    needs_attention: ClassVar[bool] = False
    batched: ClassVar[bool] = True
    groups: int = 1

    @property
    def needs_jacobian(self) -> bool:
        """Whether the combiner needs more than the Gramian: true for a class that overrides :meth:`merge`."""
        return type(self).merge is not Combiner.merge

    def draw(self, shape: tuple[int, ...], generator: Generator) -> Tensor | None:
        """Draw the noise for Gramians of ``shape + (m,)``; ``None`` for combiners without randomness.

        Args:
            shape: ``(*R, m)``.
            generator: The only source of randomness.

        Returns:
            Noise with leading dimensions ``*R``, or ``None``.
        """
        return None

    @abstractmethod
    def combine(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> Tensor:
        """Return the weight of each gradient: pure, batched over runs, without checks that read numbers.

        Args:
            gramian: Inner products of the gradients, ``[*R, m, m]``, in float32 or float64.
            attention: Attention over the objectives, ``[*R, m]``; uniform unless ``needs_attention``.
            noise: What :meth:`draw` returned.

        Returns:
            Weights, ``[*R, m]``.
        """

    def conflict(self, gramian: Tensor, noise: Tensor | None) -> Tensor:
        """Return the conflict ratio to report: the share of conflicting pairs unless a combiner has its own.

        Args:
            gramian: Inner products of the gradients, ``[*R, m, m]``.
            noise: What :meth:`draw` returned.

        Returns:
            Conflict ratio in [0, 1], ``[*R]``.
        """
        return pair_conflict(gramian)

    def forward(self, jacobian: Tensor, attention: Tensor | None = None, generator: Generator | None = None) -> Tensor:
        """Return the combined gradient.

        Args:
            jacobian: One gradient per objective, ``[*R, m, P]``.
            attention: Attention over the objectives, ``[*R, m]``, or ``[*R, b, m]`` to be averaged over a minibatch.
            generator: Source of randomness, for combiners that draw.

        Returns:
            Combined gradient, ``[*R, P]``.
        """
        return self.merge(jacobian, attention, generator).gradient

    def merge(self, jacobian: Tensor, attention: Tensor | None = None, generator: Generator | None = None) -> Merged:
        """Return the combined gradient of :meth:`forward` together with its weights and the conflict ratio."""
        jacobian = _checks.floats("jacobian", jacobian)
        _checks.jacobian(jacobian)
        gramian = gramian_of(jacobian)
        _checks.no_overflow("jacobian", gramian, jacobian)
        weights, conflict = self.weigh(gramian, attention, generator)
        wide = torch.promote_types(weights.dtype, jacobian.dtype)
        gradient = (weights.to(wide).unsqueeze(-2) @ jacobian.to(wide)).squeeze(-2).to(jacobian.dtype)
        _checks.no_overflow("jacobian", gradient, jacobian, block=type(self).__name__)
        return Merged(gradient, weights.to(jacobian.dtype), conflict.to(jacobian.dtype))

    def weights(self, gramian: Tensor, attention: Tensor | None = None, generator: Generator | None = None) -> Tensor:
        """Return the weight of each objective's gradient: check, draw, combine.

        Args:
            gramian: Inner products of the gradients, ``[*R, m, m]``.
            attention: Attention over the objectives, ``[*R, m]``, or ``[*R, b, m]`` to be averaged over a minibatch.
            generator: Source of randomness, for combiners that draw; by default PyTorch's global one, which
                ``torch.manual_seed`` seeds, or the combiner's own if it was made with a seed.

        Returns:
            Weights, ``[*R, m]``.
        """
        gramian = _checks.floats("gramian", gramian)
        _checks.gramian(gramian)
        weights = self.weigh(gramian, attention, generator).weights.to(gramian.dtype)
        _checks.no_overflow("gramian", weights, gramian, block=type(self).__name__)
        return weights

    def weigh(self, gramian: Tensor, attention: Tensor | None = None, generator: Generator | None = None) -> Weighed:
        """Return the weights of :meth:`weights` and the conflict ratio of the same draw, for a checked Gramian.

        Both are in float32 or float64, also for gradients in half precision.
        """
        attention = self._mean_attention(gramian, attention)
        noise = self.draw(tuple(gramian.shape[:-1]), self._source() if generator is None else generator)
        noise = None if noise is None else noise.to(gramian.device)
        inner, attention = _checks.working(gramian), _checks.working(attention)
        if self.batched:
            weights, conflict = self.combine(inner, attention, noise), self.conflict(inner, noise)
        else:
            weights, conflict = self._looped(inner, attention, noise)
        self._require_weights(weights, gramian)
        return Weighed(weights, conflict)

    def _source(self) -> Generator:
        """Return the generator for a call that passes none."""
        return torch.default_generator

    def _looped(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> tuple[Tensor, Tensor]:
        """Combine run by run."""
        runs, m = gramian.shape[:-2], gramian.shape[-1]
        grams, attentions = gramian.reshape(-1, m, m), attention.reshape(-1, m)
        noises = [None] * len(grams) if noise is None else noise.reshape(len(grams), *noise.shape[len(runs) :])
        rows = list(zip(grams, attentions, noises, strict=True))
        pieces = [self.combine(*row) for row in rows]
        for piece, one in zip(pieces, grams, strict=True):
            self._require_weights(piece, one)
        weights = torch.stack(pieces) if pieces else attentions
        conflict = torch.stack([self.conflict(one, noise) for one, _, noise in rows]) if rows else attentions[:, 0]
        return weights.reshape(*runs, m), conflict.reshape(runs)

    def _require_weights(self, weights: Tensor, gramian: Tensor) -> None:
        """Raise if a user's combiner returned something other than weights."""
        if weights.shape != gramian.shape[:-1]:
            rule = f"return weights of shape {list(gramian.shape[:-1])}"
            _checks.fail(f"{type(self).__name__}.combine", rule, f"shape {list(weights.shape)}")

    def _mean_attention(self, gramian: Tensor, attention: Tensor | None) -> Tensor:
        """Return the attention as ``[*R, m]``: uniform for combiners that do not use it."""
        if not self.needs_attention:
            return torch.full_like(gramian[..., 0], 1 / max(gramian.shape[-1], 1))
        if attention is None:
            raise ValueError(f"`attention` must be given to {type(self).__name__}, got None.")
        attention = _checks.floats("attention", attention)
        _checks.objectives("attention", attention, gramian.shape[-1], minimum=1)
        _checks.simplex("attention", attention)
        if attention.dim() == gramian.dim():
            attention = attention.mean(-2)
        _checks.broadcastable("attention", attention, gramian.shape[:-1])
        return attention.to(gramian).expand(gramian.shape[:-1])


class DrawingCombiner(Combiner):
    """A combiner that draws random numbers, optionally from its own generator.

    Args:
        seed: Seed of the combiner's own generator, whose state is part of the ``state_dict``. By default it has none
            and draws from PyTorch's global generator, so a combiner created anew for every minibatch does not repeat
            itself.
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__()
        if seed is not None:
            _checks.at_least("seed", seed, 0)
        self._generator = None if seed is None else torch.Generator().manual_seed(seed)

    def _source(self) -> Generator:
        return super()._source() if self._generator is None else self._generator

    def get_extra_state(self) -> Tensor:
        """Return the state of the combiner's own generator; empty without one."""
        return torch.empty(0, dtype=torch.uint8) if self._generator is None else self._generator.get_state()

    def set_extra_state(self, state: Tensor) -> None:
        """Restore the state of the combiner's own generator."""
        self._generator = None
        if state.numel():
            self._generator = torch.Generator()
            self._generator.set_state(state.cpu())  # the checkpoint may have been loaded to another device
