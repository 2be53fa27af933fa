"""The paper's controller: a base schedule that gradient conflict slows down."""

import torch
from torch import Tensor

from morl_blocks import _checks
from morl_blocks.schedulers._base import Scheduler, smooth
from morl_blocks.schedulers.decay import LinearDecay


def boost(conflict: Tensor, threshold: Tensor | float) -> Tensor:
    r"""Measure the conflict above a threshold: :math:`\max(0, (\kappa - \tau)/(1 - \tau))`, in [0, 1].

    Example:
        >>> boost(torch.tensor([0.3, 0.7, 1.0]), 0.4)
        tensor([0.0000, 0.5000, 1.0000])
    """
    conflict = _checks.floats("conflict", conflict)
    limit = _checks.like("threshold", threshold, conflict)
    _checks.between("threshold", limit, 0.0, 1.0, bounds="[)")
    _checks.per_run(conflict=conflict, threshold=limit)
    return ((conflict - limit) / (1 - limit)).clamp(min=0.0)


def braked(base: Tensor, boost: Tensor, maximum: Tensor | float) -> Tensor:
    r"""Pull the base schedule up towards ``maximum``: :math:`\mu^* = \mu_{base} + boost\,(\mu_{max} - \mu_{base})`.

    Example:
        >>> braked(torch.tensor(5.025), torch.tensor(0.5), 10.0)
        tensor(7.5125)
    """
    base, boost = _checks.alike(base=base, boost=boost)
    top = _checks.like("maximum", maximum, base)
    _checks.per_run(base=base, boost=boost, maximum=top)
    return base + boost * (top - base)


class ConflictBraked(Scheduler):
    r"""Follow a base schedule, pull it up while gradients conflict, and smooth the result.

    .. math:: \mu \leftarrow (1 - \lambda)\,\mu + \lambda\,[\mu_{base} + boost(\kappa)\,(\mu_{max} - \mu_{base})]

    A large mu is a nearly linear scalarization, so conflict delays the transition to the sharp one. mu starts at the
    base schedule's first value. Without conflict it is the smoothed base schedule.

    Args:
        base: The base schedule; ``LinearDecay(10.0, 0.05)`` by default. Do not share it with another object.
        maximum: Smoothness under full conflict, at least the highest value of ``base``; a number or ``[R]``.
        threshold: Conflict ratio :math:`\tau` in [0, 1) above which the schedule is pulled up; a number or ``[R]``.
        smoothing: Factor :math:`\lambda` of the exponential average in (0, 1]; a number or ``[R]``.

    Example:
        >>> controller = ConflictBraked()
        >>> controller.step(progress=0.0, conflict=0.0)
        tensor(10.)
        >>> controller.step(progress=0.5, conflict=torch.tensor([0.0, 0.7]))  # two runs
        tensor([9.7513, 9.8756])
    """

    maximum: Tensor
    threshold: Tensor
    smoothing: Tensor

    def __init__(
        self,
        base: Scheduler | None = None,
        maximum: Tensor | float = 10.0,
        threshold: Tensor | float = 0.4,
        smoothing: Tensor | float = 0.05,
    ) -> None:
        base = LinearDecay(10.0, 0.05) if base is None else base
        if not isinstance(base, Scheduler):
            _checks.fail("base", "be a Scheduler such as LinearDecay()", repr(base))
        given = {"maximum": maximum, "threshold": threshold, "smoothing": smoothing}
        numbers = {name: _checks.number(name, value).clone() for name, value in given.items()}
        _checks.positive("maximum", numbers["maximum"])
        _checks.between("threshold", numbers["threshold"], 0.0, 1.0, bounds="[)")
        _checks.between("smoothing", numbers["smoothing"], 0.0, 1.0, bounds="(]")
        _checks.per_run(base=base.mu, **numbers)
        super().__init__(base.mu)
        self.base = base
        for name, value in numbers.items():
            self.register_buffer(name, value, persistent=False)
        highest = base.highest
        if not _checks.is_traced(highest) and bool(torch.isinf(highest).any()):
            _checks.fail("base", "define its `highest` value (override the property)", type(base).__name__)
        if not _checks.is_traced(self.maximum) and bool((self.maximum < highest).any()):
            rule = f"be >= the highest value of base ({base.highest.tolist()})"
            _checks.fail("maximum", rule, self.maximum.tolist())

    @property
    def lowest(self) -> Tensor:
        """The lowest value of the base schedule."""
        return self.base.lowest

    @property
    def highest(self) -> Tensor:
        """The smoothness under full conflict."""
        return self.maximum

    def advance(self, progress: Tensor, conflict: Tensor) -> Tensor:
        """Step the base schedule, pull it up by the conflict, and average."""
        runs = {"threshold": self.threshold, "maximum": self.maximum, "smoothing": self.smoothing}
        _checks.per_run(**runs, progress=progress, conflict=conflict)
        target = braked(self.base.step(progress, conflict), boost(conflict, self.threshold), self.maximum)
        # Only rounding could leave the interval, because an exponential average of numbers inside it stays inside.
        return smooth(self.mu, target, self.smoothing).clamp(min=self.lowest, max=self.highest)
