"""Adaptive smooth Tchebycheff (ASTCH): STCH whose smoothness comes from a scheduler, with a maintenance rate."""

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.scalarizers.base import Sense
from morl_blocks.scalarizers.smooth_tchebycheff import AttentionKind, SmoothScalarizer
from morl_blocks.schedulers import Scheduler


def maintain(attention: Tensor, maintenance: Tensor | float) -> Tensor:
    r"""Guarantee every objective a share of the attention.

    .. math:: \eta = (1 - \rho)\, \delta + \rho / m

    So :math:`\eta_i \in [\rho/m,\; 1 - \rho + \rho/m]`.

    Args:
        attention: Attention that sums to 1, ``[*B, m]``.
        maintenance: Rate :math:`\rho` in [0, 1], broadcastable to ``[*B, 1]``.

    Returns:
        Effective attention, ``[*B, m]``.

    Example:
        >>> maintain(torch.tensor([1.0, 0.0, 0.0]), 0.15)
        tensor([0.9000, 0.0500, 0.0500])
    """
    attention = _checks.floats("attention", attention)
    _checks.objectives("attention", attention, minimum=1)
    rate = _checks.like("maintenance", maintenance, attention)
    _checks.between("maintenance", rate, 0.0, 1.0)
    _checks.broadcastable("maintenance", rate, torch.Size([*attention.shape[:-1], 1]))
    return (1 - rate) * attention + rate / attention.shape[-1]


class AdaptiveSmoothTchebycheff(SmoothScalarizer):
    """STCH with a smoothness scheduler; its attention is the effective attention of the paper.

    Call :meth:`step` once per training iteration. A scheduler that holds one smoothness per run, ``[R]``, aligns with
    the *leading* dimension of the values, ``[R, ..., m]``.

    Args:
        scheduler: Scheduler of the smoothness, for example ``ConflictBraked()``.
        utopia: Ideal value, broadcastable to ``[*B, m]``; by default 1.05 for ``"max"`` and -0.05 for ``"min"``.
        maintenance: Share of the attention in [0, 1] that is spread evenly over objectives: a number, or ``[R]``, one
            per run.
        sense: ``"max"`` (default): values are returns; ``"min"``: values are losses and the utility is a loss.
        attention: ``"softmax"`` (the paper's) or ``"gradient"`` (the exact derivative, normalised).
        mask_zero_weight: Leave objectives of weight 0 out of the sum.

    Example:
        >>> from morl_blocks.schedulers import ConflictBraked
        >>> scalarizer = AdaptiveSmoothTchebycheff(ConflictBraked())
        >>> scalarizer.step(progress=0.5, conflict=2 / 3)
        tensor(9.8618)
        >>> scalarizer.attention(torch.tensor([0.2, 0.5, 0.8]), torch.tensor([0.5, 0.3, 0.2]))
        tensor([0.3394, 0.3319, 0.3286])
    """

    maintenance: Tensor

    def __init__(
        self,
        scheduler: Scheduler,
        utopia: Tensor | float | None = None,
        maintenance: Tensor | float = 0.15,
        *,
        sense: Sense = "max",
        attention: AttentionKind = "softmax",
        mask_zero_weight: bool = False,
    ) -> None:
        super().__init__(utopia, sense=sense, attention=attention, mask_zero_weight=mask_zero_weight)
        if not isinstance(scheduler, Scheduler):
            _checks.fail("scheduler", "be a Scheduler such as ConflictBraked()", repr(scheduler))
        rate = _checks.number("maintenance", maintenance)
        _checks.between("maintenance", rate, 0.0, 1.0)
        self.scheduler = scheduler
        self.register_buffer("maintenance", rate, persistent=False)

    @property
    def mu(self) -> Tensor:
        """The current smoothness, ``[]`` or ``[R]``."""
        return self.scheduler.mu

    def step(
        self,
        progress: Tensor | float,
        conflict: Tensor | float = 0.0,
        values: Tensor | None = None,
        weights: Tensor | None = None,
    ) -> Tensor:
        """Choose the smoothness of the next iteration with the scheduler.

        Args:
            progress: Share of the training done, in [0, 1], a number or ``[R]``.
            conflict: Conflict ratio of the last iteration, in [0, 1], a number or ``[R]``.
            values: This iteration's samples, ``[N, m]`` or ``[R, N, m]``, for a scheduler that uses their gaps.
            weights: Their preferences; given with ``values``.

        Returns:
            The new smoothness, ``[]`` or ``[R]``.
        """
        if values is None or weights is None:
            return self.scheduler.step(progress, conflict)
        gaps = self._gaps(*self._checked(values, weights))
        return self.scheduler.step(progress, conflict, gaps)

    def _smoothness(self, values: Tensor) -> Tensor:
        return _lead("mu", self.mu, values).squeeze(-1)

    def attend(self, values: Tensor, weights: Tensor) -> Tensor:
        """Return the effective attention, ``[*B, m]``."""
        return maintain(super().attend(values, weights), _lead("maintenance", self.maintenance, values))


def _lead(name: str, per_run: Tensor, values: Tensor) -> Tensor:
    """Append dimensions to ``[]`` or ``[R]`` so that it broadcasts against the leading dimension of ``[R, ..., m]``."""
    if per_run.dim() and (per_run.dim() >= values.dim() or per_run.shape != values.shape[: per_run.dim()]):
        _checks.fail(
            name, f"match the leading dimensions of values {list(values.shape)}", f"shape {list(per_run.shape)}"
        )
    return per_run.to(values.dtype).reshape(*per_run.shape, *[1] * (values.dim() - per_run.dim()))
