"""The attention over rewards."""

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.scalarizers import Scalarizer


def reward_attention(levels: Tensor, scalarizer: Scalarizer, weights: Tensor) -> Tensor:
    """Compute the attention over rewards from how far each one is behind its ideal value (maximise).

    A reward with a NaN level, because no completion had it yet, gets no attention; the others share it.

    Args:
        levels: Current level of each reward, for example its running mean, ``[*B, m]``; for STCH and TCH in [0, 1].
        scalarizer: Any scalarizer to maximise (``sense="max"``).
        weights: Preference on the simplex, ``[m]`` or ``[*B, m]``.

    Returns:
        Attention, ``[*B, m]``: non-negative, with sum 1, or 0 if no reward with a positive weight has a level.

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
    # With the weight 0 the gap of an unknown reward is 0, so it cannot be the largest one.
    wanted = wanted.to(values).expand_as(values)
    kept, anything = _shares(wanted * known)
    attention = scalarizer.attention(torch.where(known, values, 0.0), torch.where(anything, kept, wanted)) * known
    share, seen = _shares(attention)
    return torch.where(anything, torch.where(seen, share, kept), 0.0)


def _shares(parts: Tensor) -> tuple[Tensor, Tensor]:
    """Return the parts divided by their sum, and whether that sum is above 0."""
    total = parts.sum(-1, keepdim=True)
    return parts / torch.where(total > 0, total, 1.0), total > 0
