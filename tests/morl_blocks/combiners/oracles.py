"""Independent ways to compute what the combiners compute, slowly and in parameter space."""

import torch
from torch import Tensor


def project(jacobian: Tensor, i: int, order: list[int]) -> Tensor:
    """Project gradient i on the normal planes of the others, in the given order, in parameter space."""
    current = jacobian[i].clone()
    for j in order:
        inner = current @ jacobian[j]
        if j != i and inner < 0 and jacobian[j].norm() > 0:
            current = current - inner / (jacobian[j] @ jacobian[j]) * jacobian[j]
    return current


def pcgrad(jacobian: Tensor, order: Tensor) -> Tensor:
    """Stack the projected gradients, ``[m, P]``."""
    return torch.stack([project(jacobian, i, order[i].tolist()) for i in range(len(jacobian))])


def pcgrad_by_position(jacobian: Tensor, order: Tensor) -> tuple[Tensor, int, int]:
    """Stack the projections of lists shuffled by ``order`` that skip place i, and count the negative products.

    The last number counts the products that are 0 up to the rounding of an earlier projection: their sign is chance.
    """
    rows, negative, unsure = [], 0, 0
    for i in range(len(jacobian)):
        current = jacobian[i].clone()
        for place, other in enumerate(jacobian[order[i]]):
            inner = current @ other
            if place == i:
                continue
            if not torch.equal(current, jacobian[i]) and abs(inner) < 1e-9 * jacobian[i].norm() * other.norm():
                unsure += 1
            elif inner < 0:
                negative += 1
                current = current - inner / (other @ other) * other
        rows.append(current)
    return torch.stack(rows), negative, unsure
