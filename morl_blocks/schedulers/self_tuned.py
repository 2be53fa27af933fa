"""A smoothness computed from the run's own data, without hyperparameters and without the training length."""

import math

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.schedulers._base import Scheduler

MOST_CONFLICT = 1 - 1e-3
"""Conflict is clamped here, because at full conflict the smoothness would be infinite."""


def resolution(gaps: Tensor) -> Tensor:
    r"""Return the smoothness at which the softmax is the probability of the largest gap, given how much the gaps vary.

    .. math:: \beta = \frac{\sqrt 6}{\pi} \sqrt{\frac1m \sum_i \operatorname{var}_t\, y_{ti}}

    Gumbel noise of scale :math:`\beta` has the standard deviation :math:`\pi\beta/\sqrt 6`, and the largest of
    :math:`y_i` plus such noise is number i with probability :math:`\mathrm{softmax}(y/\beta)_i`, exactly.

    Args:
        gaps: Weighted gaps of many samples, ``[*R, N, m]`` with N >= 2.

    Returns:
        Smoothness, ``[*R]``; for gaps that never vary, the rounding error of the gaps.

    Example:
        >>> y = torch.tensor([[0.1, 0.4], [0.3, 0.4], [0.2, 0.1]])
        >>> resolution(y), resolution(10 * y), resolution(y + 5)
        (tensor(0.0900), tensor(0.9003), tensor(0.0900))
    """
    gaps = _checks.working(_checks.floats("gaps", gaps))
    _checks.objectives("gaps", gaps)
    if gaps.dim() < 2 or gaps.shape[-2] < 2:
        _checks.fail("gaps", "be [*R, N, m] with N >= 2", f"shape {list(gaps.shape)}")
    # Scaling by a power of two keeps the squares from overflow and underflow.
    size = gaps.detach().abs().amax((-2, -1))
    unit = size.log2().floor().clamp(-100, 126).exp2()
    scaled = gaps / unit[..., None, None]
    spread = (scaled - scaled.mean(-2, keepdim=True)).square().mean((-2, -1)).sqrt()
    return (math.sqrt(6) / math.pi * spread).clamp_min(torch.finfo(gaps.dtype).eps) * unit


class SelfTuned(Scheduler):
    r"""Set the smoothness from the run's weighted gaps and the conflict of its gradients, without hyperparameters.

    .. math:: \mu = \frac{\beta}{1 - \kappa}, \qquad
              \beta = \frac{\sqrt 6}{\pi} \sqrt{\frac1m \sum_i \operatorname{var}_t\, y_{ti}}

    - :math:`y_{ti} = w_i(\zeta - \bar r_{ti})` are the weighted gaps of the iteration's samples.
    - Without conflict, :math:`\delta = \mathrm{softmax}(y/\beta)` is the probability that an objective is the worst if
      gaps are known up to Gumbel noise of their observed spread. It is never sharper than one sample can resolve.
    - With conflict, :math:`\delta \propto \mathrm{softmax}(y/\beta)^{1-\kappa}\, (1/m)^{\kappa}`: the geometric mean of
      that and the uniform attention, which full conflict (:math:`\kappa \to 1`, held at 0.999) reaches.
    - Limits: samples that do not vary give :math:`\mu \to 0`, the Tchebycheff scalarization; gaps multiplied by 10
      give 10 times the smoothness, gaps shifted by a constant give the same, so the attention is the same in both.
    - A return that falls along the episode counts as spread too: mu is then larger than noise alone would give.

    ``progress`` is ignored, so the length of the training need not be known. The state is the last ``mu`` and
    :math:`\beta`, one per run.

    Example:
        >>> scheduler = SelfTuned()
        >>> gaps = torch.tensor([[0.1, 0.4], [0.3, 0.4], [0.2, 0.1]])
        >>> scheduler.step(0.0, conflict=0.0, gaps=gaps)
        tensor(0.0900)
        >>> scheduler.step(0.5, conflict=0.5, gaps=10 * gaps)
        tensor(1.8006)
    """

    needs_gaps = True
    base: Tensor

    def __init__(self) -> None:
        super().__init__(1.0)
        self.register_buffer("base", torch.zeros(()))

    def observe(self, gaps: Tensor) -> None:
        """Store the spread of the gaps, ``[*R, N, m]``."""
        self.base = resolution(gaps).to(self.mu)

    def advance(self, progress: Tensor, conflict: Tensor) -> Tensor:
        """Return the smoothness for the last gaps under this conflict."""
        if not _checks.is_traced(self.base) and not bool((self.base > 0).all()):
            _checks.fail("gaps", "be given to SelfTuned in its first step", None)
        return self.base / (1 - conflict.clamp(max=MOST_CONFLICT))
