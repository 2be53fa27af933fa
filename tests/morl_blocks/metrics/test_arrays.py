import numpy as np
import pytest
import torch

from morl_blocks.metrics.arrays import as_array
from tests.refusals import refused


def test_tensors_that_need_gradients_come_out_as_float64() -> None:
    out = as_array("x", torch.ones(2, 3, requires_grad=True), ndim=2)
    assert out.dtype == np.float64
    assert out.shape == (2, 3)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_raise(bad: float) -> None:
    refused("`x` must be finite, got", as_array, "x", [0.0, bad])


def test_too_few_dimensions_raise() -> None:
    refused(r"`x` must have at least 2 dimensions, got shape \[1\]", as_array, "x", [0.0], ndim=2)


@pytest.mark.parametrize("bad", ["seven", [[1.0], [1.0, 2.0]], None, [object()]])
def test_what_is_not_a_rectangle_of_numbers_raises(bad: object) -> None:
    refused("`x` must be", as_array, "x", bad)


def test_masked_and_complex_numbers_are_refused_not_stripped() -> None:
    refused("`values` must have no mask", as_array, "values", np.ma.masked_array([1.0, 2.0], mask=[False, True]))
    for numbers in (np.array([1 + 2j]), torch.tensor([1 + 2j]), [1j]):
        refused("`values` must .*real numbers", as_array, "values", numbers)
