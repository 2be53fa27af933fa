"""How much each reward counts now."""

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.scalarizers import Scalarizer


def reward_attention(levels: Tensor, scalarizer: Scalarizer, weights: Tensor) -> Tensor:
    """Spread one unit of attention over the rewards by how far each lags behind its ideal value (maximise).

    A reward whose level is NaN, because no completion had it yet, gets no attention; the others share it.

    Args:
        levels: Where each reward stands, for example its running mean, ``[*B, m]``; for STCH and TCH in [0, 1].
        scalarizer: Any scalarizer to maximise (``sense="max"``).
        weights: Preference on the simplex, ``[m]`` or ``[*B, m]``.

    Returns:
        Attention, ``[*B, m]``: non-negative, with sum 1, or 0 where no reward with a weight has a level.

    Example:
        >>> from morl_blocks.scalarizers import SmoothTchebycheff
        >>> levels, weights = torch.tensor([0.9, 0.2, torch.nan]), torch.tensor([0.4, 0.4, 0.2])
        >>> reward_attention(levels, SmoothTchebycheff(0.1), weights)
        tensor([0.0293, 0.9707, 0.0000])
    """
    if not isinstance(scalarizer, Scalarizer):
        _checks.fail("scalarizer", "be a Scalarizer such as SmoothTchebycheff(0.1)", repr(scalarizer))
    _checks.maximised("scalarizer", scalarizer)
    values, wanted = _checks.floats("levels", levels), _checks.floats("weights", weights)
    known = ~values.isnan()
    if bool(known.all()):
        return scalarizer.attention(values, wanted)
    _checks.objectives("weights", wanted, values.shape[-1])
    _checks.aligned("weights", wanted, values.shape)
    _checks.simplex("weights", wanted)
    # Without a weight an unknown reward has no gap, so that it cannot be the one that lags most.
    wanted = wanted.to(values).expand_as(values)
    kept, anything = _shares(wanted * known)
    attention = scalarizer.attention(torch.where(known, values, 0.0), torch.where(anything, kept, wanted)) * known
    share, seen = _shares(attention)
    return torch.where(anything, torch.where(seen, share, kept), 0.0)


def _shares(parts: Tensor) -> tuple[Tensor, Tensor]:
    """Return the parts divided by their sum, and where that sum is above 0."""
    total = parts.sum(-1, keepdim=True)
    return parts / torch.where(total > 0, total, 1.0), total > 0
