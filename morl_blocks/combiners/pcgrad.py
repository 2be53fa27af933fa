"""PCGrad: project conflicting gradients away from each other, on the Gramian."""

from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from morl_blocks import _checks
from morl_blocks.combiners._base import DrawingCombiner
from morl_blocks.combiners.conflict import pair_conflict
from morl_blocks.combiners.readings import ConflictKind, Pairing, check_readings, left_out, negative_share
from morl_blocks.combiners.sum import rescaled


def random_order(shape: tuple[int, ...], generator: Generator) -> Tensor:
    """Draw the order in which each objective's gradient is projected on the others.

    Args:
        shape: ``(*R, m)``.
        generator: Source of randomness.

    Returns:
        Permutations of 0..m-1 on the generator's device, ``[*R, m, m]``; row i belongs to objective i.

    Example:
        >>> random_order((3,), torch.Generator().manual_seed(0)).sort(-1).values[0]
        tensor([0, 1, 2])
    """
    if not isinstance(shape, Sequence) or not shape or not all(type(size) is int and size >= 0 for size in shape):
        _checks.fail("shape", "be (*R, m), whole numbers", repr(shape))
    # Always drawn in float32, so that a seed gives the same order under every default dtype.
    numbers = torch.rand(*shape, shape[-1], generator=generator, device=generator.device, dtype=torch.float32)
    return numbers.argsort(-1)


def pcgrad_projections(gramian: Tensor, order: Tensor, pairing: Pairing = "index") -> Tensor:
    r"""Project each gradient onto the normal planes of those it conflicts with, one after the other.

    For each i, over the other j in the given order: if :math:`\langle g_i^{proj}, g_j \rangle < 0`, subtract
    :math:`\langle g_i^{proj}, g_j \rangle / \|g_j\|^2 \; g_j` with the *original* :math:`g_j`. Only inner products are
    needed, so the result is a matrix of coefficients: :math:`g_i^{proj} = \sum_k C_{ik}\, g_k`. A zero gradient
    conflicts with none.

    Args:
        gramian: Inner products of the gradients, ``[*R, m, m]``.
        order: Row i holds a permutation of 0..m-1, ``[*R, m, m]``.
        pairing: ``"index"``: row i skips the entry i, its own gradient; see :mod:`morl_blocks.combiners.readings`.

    Returns:
        Coefficients C, ``[*R, m, m]``.

    Example:
        >>> jacobian = torch.tensor([[1.0, 0.0], [-1.0, 1.0]])
        >>> pcgrad_projections(jacobian @ jacobian.T, torch.tensor([[0, 1], [0, 1]])) @ jacobian
        tensor([[0.5000, 0.5000],
                [0.0000, 1.0000]])
    """
    return project(gramian, order, pairing)[0]


def project(gramian: Tensor, order: Tensor, pairing: Pairing = "index") -> tuple[Tensor, Tensor]:
    """Return the coefficients and the negative inner products of all steps, both ``[*R, m, m]``."""
    gramian, order = _checks.square("gramian", gramian), _checks.indices("order", order)
    _checks.same_shape("order", order, gramian.shape)
    number = torch.arange(gramian.shape[-1], device=order.device)
    # [*R, i, step, m]: one-hot of the gradient that gradient i is compared with at each step
    met = (order.unsqueeze(-1) == number).to(gramian.dtype)
    # [*R, i, step, m]: inner products of that gradient with all others
    rows = (met.flatten(-3, -2) @ gramian).view_as(met)
    norms = (rows * met).sum(-1, keepdim=True)
    # Dividing by infinity gives a coefficient of 0.
    norms = norms.masked_fill(left_out(order, pairing).unsqueeze(-1) | (norms <= 0), torch.inf)
    coefficients = torch.eye(gramian.shape[-1], dtype=gramian.dtype, device=gramian.device)
    inner = []
    for row_j, met_j, norm_j in zip(rows.unbind(-2), met.unbind(-2), norms.unbind(-2), strict=True):
        inner.append((coefficients * row_j).sum(-1, keepdim=True).clamp(max=0.0))
        # Divide first: the quotient has the size of the gradients, while 1 / norm overflows for tiny ones.
        coefficients = torch.addcmul(coefficients, inner[-1] / norm_j, met_j, value=-1)
    return coefficients, torch.cat(inner, dim=-1)


class PCGrad(DrawingCombiner):
    """Sum the projected gradients, each with weight 1 (the actor update of the paper).

    The preference does not enter. The defaults follow the paper's text; both options give other readings of it
    (:mod:`morl_blocks.combiners.readings`).

    Args:
        seed: Seed of its own generator; by default orders come from the call's generator or PyTorch's global one.
        pairing: ``"index"``: each gradient is compared with every other one.
        conflict: ``"pairs"``: the conflict ratio is the share of pairs that conflict before any projection.

    Example:
        >>> PCGrad()(torch.tensor([[1.0, 0.0], [-1.0, 1.0]]))
        tensor([0.5000, 1.5000])
    """

    def __init__(
        self, seed: int | None = None, *, pairing: Pairing = "index", conflict: ConflictKind = "pairs"
    ) -> None:
        super().__init__(seed)
        self.pairing, self.conflict_kind = check_readings(pairing, conflict)

    def draw(self, shape: tuple[int, ...], generator: Generator) -> Tensor:
        """Draw the orders, ``[*R, m, m]``: :func:`random_order`."""
        return random_order(shape, generator)

    def combine(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> Tensor:
        """Sum the rows of the projections' coefficients."""
        return pcgrad_projections(gramian, _order(noise), self.pairing).sum(-2)

    def conflict(self, gramian: Tensor, noise: Tensor | None) -> Tensor:
        """Return the conflict ratio of the chosen kind, ``[*R]``."""
        if self.conflict_kind == "pairs":
            return pair_conflict(gramian)
        return negative_share(project(gramian, _order(noise), self.pairing)[1], self.pairing)

    def extra_repr(self) -> str:
        """Show the options in ``repr``."""
        return f"pairing={self.pairing!r}, conflict={self.conflict_kind!r}"


class WeightedPCGrad(PCGrad):
    r"""Sum the projected gradients with the attention as weights, applied after the projection.

    .. math:: c = \sum_i m\,\eta_i\,C_{i\cdot}

    The factor m keeps the step size of plain PCGrad at uniform attention.

    Args:
        seed: Seed of its own generator; by default orders come from the call's generator or PyTorch's global one.
        rescale: Keep the factor m.
        pairing: As in :class:`PCGrad`.
        conflict: As in :class:`PCGrad`.

    Example:
        >>> WeightedPCGrad()(torch.tensor([[1.0, 0.0], [-1.0, 1.0]]), attention=torch.tensor([0.5, 0.5]))
        tensor([0.5000, 1.5000])
    """

    needs_attention = True

    def __init__(
        self,
        seed: int | None = None,
        *,
        rescale: bool = True,
        pairing: Pairing = "index",
        conflict: ConflictKind = "pairs",
    ) -> None:
        super().__init__(seed, pairing=pairing, conflict=conflict)
        self.rescale = rescale

    def combine(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> Tensor:
        """Sum the rows of the projections' coefficients, weighted by the attention."""
        projections = pcgrad_projections(gramian, _order(noise), self.pairing)
        return (rescaled(attention, rescale=self.rescale).unsqueeze(-2) @ projections).squeeze(-2)


def _order(noise: Tensor | None) -> Tensor:
    """Return the drawn orders, or raise if they are missing."""
    if noise is None:
        raise ValueError("`noise` must be the orders that `draw` returned, got None.")
    return noise
