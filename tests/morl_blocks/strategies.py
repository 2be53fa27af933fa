"""Hypothesis strategies that several test files share."""

import torch
from hypothesis import strategies as st
from torch import Tensor


def vectors(m: int, low: float, high: float) -> st.SearchStrategy[Tensor]:
    numbers = st.floats(low, high, allow_nan=False)
    return st.lists(numbers, min_size=m, max_size=m).map(lambda x: torch.tensor(x, dtype=torch.float64))


def preferences(m: int) -> st.SearchStrategy[Tensor]:
    """Points of the simplex, corners and edges included."""
    return vectors(m, 0.0, 1.0).filter(lambda x: float(x.sum()) > 1e-3).map(lambda x: x / x.sum())


def jacobians(m: int, p: int = 4) -> st.SearchStrategy[Tensor]:
    """Matrices of small whole numbers and halves: exact ties, zeros, parallels and opposites are common."""
    return vectors(m * p, -6, 6).map(lambda x: x.round().div(2).reshape(m, p))
