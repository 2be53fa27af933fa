"""The base class of normalizers: checks, shapes, and a state that can be saved."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from morl_blocks import _checks


class Normalizer(nn.Module, ABC):
    """Map objective values of any size to values that are comparable with each other.

    :meth:`update` records statistics of values. Calling the module normalises values without changing the state, so
    calls can be repeated, skipped and differentiated. Every normaliser is increasing in each objective: losses stay
    losses (``sense="min"``) and returns stay returns (``sense="max"``). Multiplying an objective by a constant, before
    and after the first update alike, does not change the result.

    The first update creates the state, ``[*R, m]``, which is saved in the ``state_dict`` with its shape. Values are
    detached in :meth:`update`; gradients flow through a call.

    To write a normaliser, register its buffers as ``torch.empty(0)`` and implement :meth:`observe` and
    :meth:`normalize`.

    Args:
        runs: Leading shape of independent runs, ``()`` for one. Each run has its own state.

    Example:
        >>> class LastValue(Normalizer):
        ...     '''Divide by the values of the latest update.'''
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.register_buffer("last", torch.empty(0))
        ...     def observe(self, rows):
        ...         self.last = rows.mean(-2)
        ...     def normalize(self, values):
        ...         return values / self.beside(self.last, values)
        >>> normalizer = LastValue()
        >>> normalizer.update(torch.tensor([2.0, 100.0]))
        >>> normalizer(torch.tensor([1.0, 10.0]))
        tensor([0.5000, 0.1000])
    """

    updates: Tensor

    def __init__(self, runs: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.runs = _checks.leading("runs", runs)
        self._objectives: int | None = None
        self.register_buffer("updates", torch.zeros((), dtype=torch.long))

    @torch.no_grad()
    def update(self, values: Tensor) -> None:
        """Record the statistics of ``values``.

        Args:
            values: Objective values, ``[*R, *N, m]``: one vector, or samples ``*N`` of equal weight.
        """
        values = self._checked(values)
        if not values.numel():
            _checks.fail("values", "hold at least one vector", f"shape {list(values.shape)}")
        state = self._state()
        rows = values.reshape(*self.runs, -1, values.shape[-1])
        self.observe(_checks.wide(rows) if state is None else rows.to(state))
        self._objectives = values.shape[-1]
        self.updates = self.updates + 1

    def forward(self, values: Tensor) -> Tensor:
        """Return ``values`` normalised by the statistics of all updates, in their shape and dtype.

        Args:
            values: Objective values, ``[*R, *N, m]``.
        """
        checked = self._checked(values)
        if self._objectives is None:
            rule = "be updated before it normalises: call update(values) first"
            _checks.fail(type(self).__name__, rule, "no update")
        result = self.normalize(checked)
        _checks.no_overflow("values", result, checked, block=type(self).__name__)
        return result.to(checked.dtype)

    @abstractmethod
    def observe(self, rows: Tensor) -> None:
        """Update the buffers with checked values.

        Args:
            rows: Values as samples, ``[*R, N, m]``, detached; in double precision at the first update, in the state's
                precision afterwards.
        """

    @abstractmethod
    def normalize(self, values: Tensor) -> Tensor:
        """Return checked values normalised, ``[*R, *N, m]``; increasing in each of them.

        Args:
            values: Objective values, ``[*R, *N, m]``.
        """

    def beside(self, state: Tensor, values: Tensor) -> Tensor:
        """Return a state ``[*R, m]`` as ``[*R, 1, ..., m]``, which broadcasts to ``values`` ``[*R, *N, m]``."""
        between = (1,) * (values.dim() - state.dim())
        return state.reshape(*self.runs, *between, state.shape[-1]).to(values.device)

    def _checked(self, values: Tensor) -> Tensor:
        """Return values as finite floating-point numbers whose shape fits the runs and the objectives."""
        values = _checks.floats("values", values)
        _checks.objectives("values", values, self._objectives, minimum=1)
        if values.dim() <= len(self.runs) or tuple(values.shape[: len(self.runs)]) != self.runs:
            _checks.fail("values", f"have shape {[*self.runs, '...', 'm']}", f"shape {list(values.shape)}")
        _checks.finite("values", values)
        return values

    def _state(self) -> Tensor | None:
        """Return one of the buffers that hold the state; ``None`` before the first update."""
        own = (buffer for name, buffer in self.named_buffers(recurse=False) if name != "updates")
        return next((buffer for buffer in own if buffer.numel()), None)

    def _load_from_state_dict(self, state_dict: Mapping[str, Any], prefix: str, *args: Any) -> None:
        """Adopt the saved shapes too, so that a state loads into a new normaliser."""
        for name, buffer in list(self.named_buffers(recurse=False)):
            saved = state_dict.get(f"{prefix}{name}")
            if isinstance(saved, Tensor) and saved.shape != buffer.shape:
                setattr(self, name, saved.new_empty(saved.shape, device=buffer.device))
        super()._load_from_state_dict(state_dict, prefix, *args)
        state = self._state()
        self._objectives = None if state is None else state.shape[-1]

    def extra_repr(self) -> str:
        """Show the runs in ``repr``."""
        return f"runs={self.runs}" if self.runs else ""


def spread_or_size(spread: Tensor, size: Tensor) -> Tensor:
    """Return a scale > 0: the spread, or the size of the values if the spread is rounding noise, or 1 if both are 0."""
    size = torch.where(size == 0, 1, size)
    return torch.where(spread <= 1e-9 * size, size, spread)  # NaN stays NaN
