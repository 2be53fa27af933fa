"""The base class of smoothness schedulers: the current mu, its checks, and a state that can be saved."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from morl_blocks import _checks


def smooth(previous: Tensor, target: Tensor, smoothing: Tensor | float) -> Tensor:
    r"""Move an exponential average one step towards a target: :math:`\mu \leftarrow (1-\lambda)\mu + \lambda \mu^*`.

    Example:
        >>> smooth(torch.tensor(10.0), torch.tensor(5.0), 0.05)
        tensor(9.7500)
    """
    previous, target = _checks.alike(previous=previous, target=target)
    rate = _checks.like("smoothing", smoothing, previous)
    _checks.between("smoothing", rate, 0.0, 1.0)
    _checks.per_run(previous=previous, target=target, smoothing=rate)
    return (1 - rate) * previous + rate * target


class Scheduler(nn.Module, ABC):
    """Choose the smoothness mu once per training iteration.

    ``mu`` is a buffer: one number, or one per run ``[R]`` after a per-run argument was passed. It is saved in the
    ``state_dict`` with its shape.

    To write a scheduler, implement :meth:`advance`. A base schedule of ``ConflictBraked`` also defines its
    :attr:`highest` value, and its :attr:`lowest` if that is not 0.

    A scheduler that uses the weighted gaps sets ``needs_gaps`` and implements :meth:`observe`.

    Args:
        mu: Smoothness before the first step, > 0, ``[]`` or ``[R]``.

    Attributes:
        needs_gaps: Whether :meth:`step` needs the gaps of the iteration's samples.

    Example:
        >>> class Halving(Scheduler):
        ...     '''Halve the smoothness in every iteration.'''
        ...     def advance(self, progress, conflict):
        ...         return self.mu / 2
        >>> schedule = Halving(8.0)
        >>> schedule.step(progress=0.0), schedule.step(progress=0.5)
        (tensor(4.), tensor(2.))
    """

    needs_gaps: ClassVar[bool] = False
    mu: Tensor

    def __init__(self, mu: Tensor | float) -> None:
        super().__init__()
        smoothness = _checks.number("mu", mu).clone()
        _checks.positive("mu", smoothness)
        self.register_buffer("mu", smoothness)

    def step(self, progress: Tensor | float, conflict: Tensor | float = 0.0, gaps: Tensor | None = None) -> Tensor:
        """Advance by one iteration and return the smoothness to use in it.

        Args:
            progress: Share of the training done before this iteration, in [0, 1], a number or ``[R]``.
            conflict: Mean conflict ratio of the last iteration, in [0, 1], a number or ``[R]``.
            gaps: Weighted gaps of this iteration's samples, ``[N, m]`` or ``[R, N, m]``; used only by schedulers with
                ``needs_gaps``.

        Returns:
            The new ``mu``, ``[]`` or ``[R]``.
        """
        progress = _checks.like("progress", progress, self.mu)
        conflict = _checks.like("conflict", conflict, self.mu)
        _checks.between("progress", progress, 0.0, 1.0)
        _checks.between("conflict", conflict, 0.0, 1.0)
        _checks.per_run(mu=self.mu, progress=progress, conflict=conflict)
        if gaps is not None and self.needs_gaps:
            gaps = _checks.floats("gaps", gaps)
            _checks.finite("gaps", gaps)
            _checks.per_run(mu=self.mu, progress=progress, conflict=conflict, gaps=torch.empty(gaps.shape[:-2]))
            self.observe(gaps.detach())
        mu = torch.as_tensor(self.advance(progress, conflict), dtype=self.mu.dtype, device=self.mu.device)
        _checks.positive(f"{type(self).__name__}.advance", mu)
        self.mu = mu
        return self.mu

    @abstractmethod
    def advance(self, progress: Tensor, conflict: Tensor) -> Tensor:
        """Return the next mu, > 0, from the checked arguments of :meth:`step` and from ``self.mu``, the current one.

        Args:
            progress: Share of the training done, ``[]`` or ``[R]``, in the dtype of ``mu``.
            conflict: Mean conflict ratio of the last iteration, ``[]`` or ``[R]``.

        Returns:
            Smoothness, ``[]`` or ``[R]``.
        """

    def observe(self, gaps: Tensor) -> None:
        """Read the weighted gaps of an iteration, ``[*R, N, m]``; called by :meth:`step` before :meth:`advance`."""

    @property
    def lowest(self) -> Tensor:
        """The smallest mu that this schedule can reach; 0 unless overridden."""
        return torch.zeros_like(self.mu)

    @property
    def highest(self) -> Tensor:
        """The largest mu that this schedule can reach; infinite unless overridden."""
        return torch.full_like(self.mu, torch.inf)

    def _load_from_state_dict(self, state_dict: Mapping[str, Any], prefix: str, *args: Any) -> None:
        """Adopt the saved shapes of the buffers too, so that a per-run state loads into a new scheduler."""
        for name, buffer in self.named_buffers(recurse=False):
            saved = state_dict.get(f"{prefix}{name}")
            if isinstance(saved, Tensor) and saved.shape != buffer.shape:
                setattr(self, name, buffer.new_empty(saved.shape))
        super()._load_from_state_dict(state_dict, prefix, *args)
