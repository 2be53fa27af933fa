"""PCGrad: project conflicting gradients away from each other, on the Gramian."""

import torch
from torch import Generator, Tensor

from morl_blocks.combiners._base import OrderedCombiner
from morl_blocks.combiners.sum import rescaled


def random_order(shape: tuple[int, ...], generator: Generator) -> Tensor:
    """Draw, for each objective, the order in which it meets the others.

    Args:
        shape: ``(*R, m)``.
        generator: Source of randomness.

    Returns:
        Permutations of 0..m-1 on the generator's device, ``[*R, m, m]``; row i belongs to objective i.

    Example:
        >>> random_order((3,), torch.Generator().manual_seed(0)).sort(-1).values[0]
        tensor([0, 1, 2])
    """
    return torch.rand(*shape, shape[-1], generator=generator, device=generator.device).argsort(-1)


def pcgrad_projections(gramian: Tensor, order: Tensor) -> Tensor:
    r"""Project each gradient on the normal planes of those it conflicts with, one after the other.

    For each i, over the other j in the given order: if :math:`\langle g_i^{proj}, g_j \rangle < 0`, subtract
    :math:`\langle g_i^{proj}, g_j \rangle / \|g_j\|^2 \; g_j` with the *original* :math:`g_j`. Only inner products are
    needed, so the result is a matrix of coefficients: :math:`g_i^{proj} = \sum_k C_{ik}\, g_k`. A zero gradient
    conflicts with nothing.

    Args:
        gramian: Inner products of the gradients, ``[*R, m, m]``.
        order: Row i holds a permutation of 0..m-1, ``[*R, m, m]``; its entry i is skipped.

    Returns:
        Coefficients C, ``[*R, m, m]``.

    Example:
        >>> jacobian = torch.tensor([[1.0, 0.0], [-1.0, 1.0]])
        >>> pcgrad_projections(jacobian @ jacobian.T, torch.tensor([[0, 1], [0, 1]])) @ jacobian
        tensor([[0.5000, 0.5000],
                [0.0000, 1.0000]])
    """
    m = gramian.shape[-1]
    eye = torch.eye(m, dtype=gramian.dtype, device=gramian.device)
    met = eye[order]  # [*R, i, step, m]: one-hot of the gradient that i meets at each step
    rows = met @ gramian.unsqueeze(-3)  # [*R, i, step, m]: inner products of that gradient with all others
    norms = (rows * met).sum(-1, keepdim=True)
    itself = order.unsqueeze(-1) == torch.arange(m, device=order.device).reshape(m, 1, 1)
    per_unit = met / norms.masked_fill(itself | (norms <= 0), torch.inf)  # zero where nothing is to be subtracted
    coefficients = eye.expand_as(gramian)
    for row_j, per_unit_j in zip(rows.unbind(-2), per_unit.unbind(-2), strict=True):
        conflict = (coefficients * row_j).sum(-1, keepdim=True).clamp(max=0.0)
        coefficients = torch.addcmul(coefficients, conflict, per_unit_j, value=-1)
    return coefficients


class PCGrad(OrderedCombiner):
    """Sum the projected gradients, each with weight 1 (the actor update of the paper).

    The preference has no say in it. Without a generator in the call, orders come from the combiner's own one.

    Args:
        seed: Seed of the own generator.

    Example:
        >>> PCGrad()(torch.tensor([[1.0, 0.0], [-1.0, 1.0]]))
        tensor([0.5000, 1.5000])
    """

    def _projections(self, gramian: Tensor, generator: Generator | None) -> Tensor:
        order = random_order(tuple(gramian.shape[:-1]), self._generator if generator is None else generator)
        return pcgrad_projections(gramian, order.to(gramian.device))

    def _weights(self, gramian: Tensor, attention: Tensor, generator: Generator | None) -> Tensor:
        return self._projections(gramian, generator).sum(-2)


class WeightedPCGrad(PCGrad):
    r"""Sum the projected gradients with the attention as weights, applied after the projection.

    .. math:: c = \sum_i m\,\eta_i\,C_{i\cdot}

    The factor m keeps the step size of plain PCGrad at uniform attention.

    Args:
        seed: Seed of the own generator.
        rescale: Keep the factor m.

    Example:
        >>> WeightedPCGrad()(torch.tensor([[1.0, 0.0], [-1.0, 1.0]]), attention=torch.tensor([0.5, 0.5]))
        tensor([0.5000, 1.5000])
    """

    needs_attention = True

    def __init__(self, seed: int = 0, *, rescale: bool = True) -> None:
        super().__init__(seed)
        self.rescale = rescale

    def _weights(self, gramian: Tensor, attention: Tensor, generator: Generator | None) -> Tensor:
        per_objective = rescaled(attention, rescale=self.rescale)
        return (per_objective.unsqueeze(-2) @ self._projections(gramian, generator)).squeeze(-2)
