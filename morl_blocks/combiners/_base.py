"""What every combiner shares: weights from the Gramian, then one weighted sum of the gradients."""

from abc import abstractmethod

import torch
from torch import Generator, Tensor, nn

from morl_blocks import _checks


class Combiner(nn.Module):
    r"""Combine m objective gradients into one update, :math:`c^\top J`, where c depends on :math:`G = J J^\top` alone.

    The sign is that of the gradients: losses in, a descent direction's negative out, as autograd gives it.
    Subclasses implement :meth:`_weights` on inputs that were checked here.
    """

    needs_attention = False

    def forward(self, jacobian: Tensor, attention: Tensor | None = None, generator: Generator | None = None) -> Tensor:
        """Return the combined gradient.

        Args:
            jacobian: One gradient per objective, ``[*R, m, P]``.
            attention: Attention over the objectives, ``[*R, m]``, or ``[*R, b, m]`` to be averaged over a minibatch.
            generator: Source of randomness, for combiners that draw an order.

        Returns:
            Combined gradient, ``[*R, P]``.
        """
        weights = self.weights(jacobian @ jacobian.mT, attention, generator)
        return (weights.unsqueeze(-2) @ jacobian).squeeze(-2)

    def weights(self, gramian: Tensor, attention: Tensor | None = None, generator: Generator | None = None) -> Tensor:
        """Return the weight of each objective's gradient.

        Args:
            gramian: Inner products of the gradients, ``[*R, m, m]``.
            attention: Attention over the objectives, ``[*R, m]``, or ``[*R, b, m]`` to be averaged over a minibatch.
            generator: Source of randomness, for combiners that draw an order.

        Returns:
            Weights, ``[*R, m]``.
        """
        _checks.gramian(gramian)
        return self._weights(gramian, self._mean_attention(gramian, attention), generator)

    @abstractmethod
    def _weights(self, gramian: Tensor, attention: Tensor, generator: Generator | None) -> Tensor: ...

    def _mean_attention(self, gramian: Tensor, attention: Tensor | None) -> Tensor:
        """Return the attention as ``[*R, m]``: uniform for combiners that have no use for it."""
        if not self.needs_attention:
            return torch.full_like(gramian[..., 0], 1 / gramian.shape[-1])
        if attention is None:
            raise ValueError(f"`attention` must be given to {type(self).__name__}, got None.")
        _checks.objectives("attention", attention, gramian.shape[-1], minimum=1)
        _checks.simplex("attention", attention)
        if attention.dim() == gramian.dim():
            attention = attention.mean(-2)
        _checks.broadcastable("attention", attention, gramian.shape[:-1])
        return attention.to(gramian.dtype).expand(gramian.shape[:-1])


class OrderedCombiner(Combiner):
    """A combiner that draws a random order; without a generator in the call it uses its own, seeded one.

    Args:
        seed: Seed of the combiner's own generator. Its state is part of the ``state_dict``.
    """

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self._generator = torch.Generator().manual_seed(seed)

    def get_extra_state(self) -> Tensor:
        """Return the state of the own generator."""
        return self._generator.get_state()

    def set_extra_state(self, state: Tensor) -> None:
        """Restore the state of the own generator."""
        self._generator.set_state(state)
