import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from morl_blocks.combiners import conflict_ratio
from tests.morl_blocks.strategies import jacobians


@given(st.integers(2, 6).flatmap(jacobians))
def test_equals_counting_pairs_also_in_a_batch(jacobian: Tensor) -> None:
    pairs = list(itertools.combinations(range(len(jacobian)), 2))
    count = sum(float(jacobian[i] @ jacobian[j]) < 0 for i, j in pairs)
    batch = torch.stack([torch.eye(len(jacobian)).double(), jacobian @ jacobian.T]).expand(3, 2, -1, -1)
    assert conflict_ratio(batch).tolist() == [[0, pytest.approx(count / len(pairs))]] * 3
