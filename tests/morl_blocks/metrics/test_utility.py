import numpy as np
import torch

from morl_blocks.metrics import expected_utility
from tests.refusals import refused


def test_closed_form_and_broadcasting() -> None:
    returns = np.arange(12.0).reshape(2, 2, 3)
    weights = [0.5, 0.25, 0.25]
    np.testing.assert_allclose(expected_utility(returns, weights), returns @ weights)
    each = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(expected_utility(returns, each), [[0.0, 5.0], [6.0, 11.0]])


def test_bad_input_raises() -> None:
    refused("`weights` must sum to 1", expected_utility, [1.0, 2.0], [0.5, 0.4])
    refused("`weights` must be >= 0", expected_utility, [1.0, 2.0], [1.5, -0.5])
    refused("`weights` must have 2 objectives", expected_utility, [1.0, 2.0], [0.5, 0.3, 0.2])
