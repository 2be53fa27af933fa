"""Map returns to [0, 1] by the smallest and largest value so far in the run."""

import torch
from torch import Tensor, nn

from morl_blocks import _checks

MIN_RANGE = 1e-6


def update_bounds(low: Tensor, high: Tensor, returns: Tensor) -> tuple[Tensor, Tensor]:
    """Widen the running bounds to include ``returns``.

    Args:
        low: Smallest return so far, ``[*R, m]`` (``+inf`` before the first).
        high: Largest return so far, ``[*R, m]`` (``-inf`` before the first).
        returns: New returns, ``[*R, *N, m]``; the dimensions between the runs and the objectives are samples.

    Returns:
        The new ``low`` and ``high``, ``[*R, m]``.

    Example:
        >>> update_bounds(torch.tensor([0.0, 2.0]), torch.tensor([1.0, 3.0]), torch.tensor([[-1.0, 2.5], [0.5, 4.0]]))
        (tensor([-1.,  2.]), tensor([1., 4.]))
    """
    low, high, returns = (
        _checks.floats(name, value) for name, value in (("low", low), ("high", high), ("returns", returns))
    )
    _require_runs("returns", returns, low, high)
    if not returns.numel():
        _checks.fail("returns", "hold at least one return", f"shape {list(returns.shape)}")
    rows = returns.reshape(*low.shape[:-1], -1, low.shape[-1])
    return torch.minimum(low, rows.amin(-2)), torch.maximum(high, rows.amax(-2))


def normalize(returns: Tensor, low: Tensor, high: Tensor) -> Tensor:
    r"""Rescale each objective to its bounds without updating them.

    .. math:: \bar r_i = \frac{r_i - \text{low}_i}{\max(\text{high}_i - \text{low}_i,\ 10^{-6})}

    In ``[0, 1]`` for returns within the bounds; values outside (such as a critic's) are not clipped.

    Args:
        returns: Returns or values, ``[*R, *N, m]``.
        low: Lower bounds, ``[*R, m]``.
        high: Upper bounds, ``[*R, m]``.

    Returns:
        Normalised returns, ``[*R, *N, m]``.

    Example:
        >>> normalize(torch.tensor([[0.0, 5.0], [2.0, 5.0]]), torch.tensor([0.0, 5.0]), torch.tensor([4.0, 5.0]))
        tensor([[0.0000, 0.0000],
                [0.5000, 0.0000]])
    """
    low, high, returns = (
        _checks.floats(name, value) for name, value in (("low", low), ("high", high), ("returns", returns))
    )
    _require_runs("returns", returns, low, high)
    shape = (*low.shape[:-1], *(1,) * (returns.dim() - low.dim()), low.shape[-1])
    # Halve both first, so that the difference of two large numbers cannot overflow. Halving rounds nothing.
    low, high, returns = low / 2, high / 2, returns / 2
    span = (high - low).clamp_min(MIN_RANGE / 2)
    return (returns - low.reshape(shape)) / span.reshape(shape)


def _require_runs(name: str, value: Tensor, low: Tensor, high: Tensor) -> None:
    """Require bounds of one shape ``[*R, m]`` and values ``[*R, *N, m]`` that begin with the same runs."""
    _checks.objectives("low", low, minimum=1)
    _checks.same_shape("high", high, low.shape)
    runs, count = low.shape[:-1], low.shape[-1]
    if value.dim() < low.dim() or value.shape[: len(runs)] != runs or value.shape[-1] != count:
        _checks.fail(name, f"have shape {[*runs, '...', count]}", f"shape {list(value.shape)}")


class ReturnNormalizer(nn.Module):
    """Keep running bounds per objective (and per run) and map returns to [0, 1] with them.

    A call first widens the bounds with the returns, then normalises, so the result always lies in ``[0, 1]``. The
    bounds are buffers: they follow the module's device and are saved in its ``state_dict``.

    Args:
        num_objectives: Number of objectives, m.
        runs: Leading shape of independent runs, ``()`` for one run.

    Example:
        >>> normalizer = ReturnNormalizer(num_objectives=2)
        >>> normalizer(torch.tensor([[0.0, 1.0], [4.0, 2.0], [1.0, 3.0]]))
        tensor([[0.0000, 0.0000],
                [1.0000, 0.5000],
                [0.2500, 1.0000]])
        >>> normalizer.normalize(torch.tensor([2.0, 2.0]))
        tensor([0.5000, 0.5000])
    """

    low: Tensor
    high: Tensor

    def __init__(self, num_objectives: int, runs: tuple[int, ...] = ()) -> None:
        super().__init__()
        _checks.at_least("num_objectives", num_objectives, 1)
        runs = _checks.leading("runs", runs)
        self.register_buffer("low", torch.full((*runs, num_objectives), torch.inf))
        self.register_buffer("high", torch.full((*runs, num_objectives), -torch.inf))

    def forward(self, returns: Tensor) -> Tensor:
        """Widen the bounds with ``returns`` ``[*R, *N, m]`` and return them normalised, same shape."""
        self.update(returns)
        return self._normalize(_checks.floats("returns", returns))

    @torch.no_grad()
    def update(self, returns: Tensor) -> None:
        """Widen the bounds with ``returns``, ``[*R, *N, m]``."""
        returns = _checks.like("returns", returns, self.low)
        self._check("returns", returns)
        _checks.finite("returns", returns)
        low, high = update_bounds(self.low, self.high, returns)
        self.low.copy_(low)
        self.high.copy_(high)

    def normalize(self, values: Tensor) -> Tensor:
        """Normalise ``values`` ``[*R, *N, m]``, such as a critic's, with the current bounds; they are not clipped."""
        values = _checks.floats("values", values)
        self._check("values", values)
        _checks.finite("values", values)
        if not _checks.is_traced(self.low) and not bool(self.low.isfinite().all()):
            _checks.fail("normalizer", "have seen returns before it normalises values", "none")
        result = self._normalize(values)
        _checks.no_overflow("values", result, values)
        return result

    def _normalize(self, values: Tensor) -> Tensor:
        """Normalise in the dtype of the bounds and return the dtype of the values."""
        return normalize(values.to(self.low), self.low, self.high).to(values.dtype)

    def _check(self, name: str, value: Tensor) -> None:
        _checks.objectives(name, value, self.low.shape[-1], minimum=1)
        _require_runs(name, value, self.low, self.high)
