"""Bad input, for every combiner alike."""

import pytest
import torch
from torchjd.aggregation import UPGradWeighting

from morl_blocks.combiners import Combiner, PCGrad, Sum, TorchJD, WeightedPCGrad, WeightedSum, conflict_ratio

BLOCKS = [Sum(), WeightedSum(), PCGrad(), WeightedPCGrad(), TorchJD(UPGradWeighting())]
HALF = torch.tensor([0.5, 0.5])


@pytest.mark.parametrize("block", BLOCKS, ids=lambda b: type(b).__name__)
def test_bad_gramians(block: Combiner) -> None:
    nan = torch.tensor([[1.0, float("nan")], [float("nan"), 1.0]])
    with pytest.raises(ValueError, match="`gramian` must be finite, got nan"):
        block.weights(nan, HALF)
    with pytest.raises(ValueError, match=r"`gramian` must be square, \[\*R, m, m\], got shape \[2, 3\]"):
        block.weights(torch.ones(2, 3), HALF)
    with pytest.raises(ValueError, match="`gramian` must be symmetric, got an asymmetry of 1"):
        block.weights(torch.tensor([[1.0, 0.0], [1.0, 1.0]]), HALF)
    with pytest.raises(ValueError, match="`gramian` must be finite"):
        block(torch.tensor([[1.0, float("nan")], [1.0, 1.0]]), HALF)
    with pytest.raises(ValueError, match="`gramian` must be square"):
        block.weights(torch.ones(2), HALF)


@pytest.mark.parametrize("block", [WeightedSum(), WeightedPCGrad()], ids=lambda b: type(b).__name__)
def test_bad_attention(block: Combiner) -> None:
    gramian = torch.eye(2)
    with pytest.raises(ValueError, match=f"`attention` must be given to {type(block).__name__}, got None"):
        block.weights(gramian)
    with pytest.raises(ValueError, match="`attention` must sum to 1, got a sum of 2"):
        block.weights(gramian, torch.ones(2))
    with pytest.raises(ValueError, match="`attention` must be >= 0, got -1"):
        block.weights(gramian, torch.tensor([2.0, -1.0]))
    with pytest.raises(ValueError, match=r"`attention` must have 2 objectives in its last dimension, got shape \[3\]"):
        block.weights(gramian, torch.full((3,), 1 / 3))
    with pytest.raises(ValueError, match=r"`attention` must broadcast to shape \[2\], got shape \[1, 3, 2\]"):
        block.weights(gramian, HALF.expand(1, 3, 2))


def test_conflict_needs_two_objectives() -> None:
    with pytest.raises(ValueError, match="`gramian` must have at least 2 objectives"):
        conflict_ratio(torch.eye(1))
