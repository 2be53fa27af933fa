import numpy as np
import torch

from morl_blocks.metrics.arrays import as_array
from tests.refusals import refused


def test_tensors_become_float64_and_other_input_is_refused() -> None:
    out = as_array("x", torch.ones(2, 3, requires_grad=True), ndim=2)
    assert out.dtype == np.float64
    assert out.shape == (2, 3)
    refused(r"`x` must have at least 2 dimensions, got shape \[1\]", as_array, "x", [0.0], ndim=2)
    for bad in (np.nan, np.inf, -np.inf):
        refused("`x` must be finite, got", as_array, "x", [0.0, bad])
    for what in ("seven", [[1.0], [1.0, 2.0]], None, [object()]):
        refused("`x` must be", as_array, "x", what)
    refused("`x` must have no mask", as_array, "x", np.ma.masked_array([1.0, 2.0], mask=[False, True]))
    for numbers in (np.array([1 + 2j]), torch.tensor([1 + 2j]), [1j]):
        refused("`x` must .*real numbers", as_array, "x", numbers)
