"""The three objectives of the stealth environment, exactly as printed in the paper (appendix, stealth environment)."""

from torch import Tensor


def search_score(found: Tensor, vision: Tensor, num_targets: int) -> Tensor:
    r"""Reward newly scanned targets, and give a small reward for targets in view.

    .. math:: r_{score} = \mathrm{clip}(10 N_{new} + 0.05 \sum_{k=1}^6 v_k,\ 0,\ 10 N_{obj})

    Args:
        found: Targets scanned in this step, ``[N]``.
        vision: Vision grid, ``[N, 6]``.
        num_targets: N_obj.

    Example:
        >>> import torch
        >>> vision = torch.tensor([[0.5, 0.0, 0.25, 0.0, 1.0, 0.0]])
        >>> round(float(search_score(torch.tensor([2]), vision, num_targets=5)), 4)
        20.0875
    """
    return (10.0 * found.to(vision.dtype) + 0.05 * vision.sum(-1)).clamp(0, 10.0 * num_targets)


def stealth(position: Tensor, collided: Tensor, safe_limit: float, max_risk: float) -> Tensor:
    r"""Reward distance from the exposed centre of the arena; a collision sets the reward to 0.

    .. math::
        d_{risk} = \max(0, \min(L - |x|, L - |y|)), \qquad
        r_{stealth} = \mathrm{clip}(1 - d_{risk} / d_{max} - \mathbb{1}_{coll},\ 0,\ 1)

    Args:
        position: ``[N, 2]``.
        collided: Bool ``[N]``.
        safe_limit: L.
        max_risk: d_max.

    Example:
        >>> import torch
        >>> stealth(torch.tensor([[0.4, 0.1], [0.9, 0.0]]), torch.tensor([False, True]), 0.8, 0.8)
        tensor([0.5000, 0.0000])
    """
    risk = (safe_limit - position.abs()).amin(-1).clamp(min=0)
    return (1 - risk / max_risk - collided.to(position.dtype)).clamp(0, 1)


def exploration(before: Tensor, after: Tensor) -> Tensor:
    r"""Reward the distance covered in this step.

    .. math:: r_{expl} = \mathrm{clip}(2 \lVert p_t - p_{t-1} \rVert,\ 0,\ 1)

    Example:
        >>> import torch
        >>> exploration(torch.zeros(1, 2), torch.tensor([[0.03, 0.04]]))
        tensor([0.1000])
    """
    x, y = (after - before).unbind(-1)
    return (2.0 * (x * x + y * y).sqrt()).clamp(0, 1)
