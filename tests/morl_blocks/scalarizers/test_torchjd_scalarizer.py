import sys

import pytest
import torch

from morl_blocks.scalarizers import Linear, SmoothTchebycheff, TorchJDScalarizer
from tests.refusals import refused

peer = pytest.importorskip("torchjd.scalarization")
LOSSES = torch.tensor([[0.2, 0.8, 0.3], [0.9, 0.1, 0.5]])
WEIGHTS = torch.tensor([0.5, 0.3, 0.2])


def test_our_stch_and_linear_agree_with_theirs() -> None:
    pairs = {
        TorchJDScalarizer(peer.STCH(mu=0.1)): SmoothTchebycheff(0.1, utopia=0.0, sense="min"),
        TorchJDScalarizer(peer.Constant(torch.ones(3))): Linear(sense="min"),
    }
    flipped = LOSSES.flip(0)
    for theirs, ours in pairs.items():
        torch.testing.assert_close(theirs(LOSSES, WEIGHTS), ours(LOSSES, WEIGHTS))
        torch.testing.assert_close(theirs.gradient(LOSSES, WEIGHTS), ours.gradient(LOSSES, WEIGHTS))
        expected = ours.difference(LOSSES, flipped, WEIGHTS)
        torch.testing.assert_close(theirs.difference(LOSSES, flipped, WEIGHTS), expected)


def test_each_vector_gets_its_own_preference_if_the_method_has_one() -> None:
    own = torch.full((3,), 1 / 3)
    method = peer.STCH(mu=0.1, weights=own)
    both = torch.stack([WEIGHTS, WEIGHTS.flip(0)])
    scores = TorchJDScalarizer(method)(LOSSES, both)
    for losses, weights, score in zip(LOSSES, both, scores, strict=True):
        torch.testing.assert_close(score, peer.STCH(mu=0.1, weights=weights)(losses))
    assert method.weights is own
    for method in (peer.GeometricMean(), peer.Mean(), peer.Sum()):
        scalarizer = TorchJDScalarizer(method)
        torch.testing.assert_close(scalarizer(LOSSES, both), torch.stack([method(row) for row in LOSSES]))
        torch.testing.assert_close(scalarizer.attention(LOSSES, WEIGHTS).sum(-1), torch.ones(2))


def test_methods_that_learn_or_remember() -> None:
    scalarizer = TorchJDScalarizer(peer.UW(3))
    losses = LOSSES[0].clone().requires_grad_()
    scalarizer(losses, WEIGHTS).backward()
    (parameter,) = scalarizer.parameters()
    assert parameter.grad is not None
    assert losses.grad is not None
    torch.testing.assert_close(scalarizer.gradient(LOSSES[0], WEIGHTS), losses.grad)
    famo = peer.FAMO(3)
    remembers = TorchJDScalarizer(famo)
    remembers.attention(LOSSES[0], WEIGHTS)
    refused("must be called after", famo.update, LOSSES[0])  # asking for the attention is no step
    remembers(LOSSES[0], WEIGHTS)
    famo.update(0.5 * LOSSES[0])
    refused(r"`values` must be one vector \[m\]: FAMO remembers earlier calls", remembers, LOSSES, WEIGHTS)


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    refused(r"`method` must be an instance such as Mean\(\) of torchjd.scalarization", TorchJDScalarizer, peer.Mean)
    refused("`method` must be a scalarizer of torchjd.scalarization", TorchJDScalarizer, torch.sum)
    refused("`weights` must sum to 1", TorchJDScalarizer(peer.Mean()), LOSSES, torch.ones(3))
    monkeypatch.setitem(sys.modules, "torchjd", None)
    with pytest.raises(ModuleNotFoundError, match="`TorchJDScalarizer` needs torchjd: pip install"):
        TorchJDScalarizer(torch.sum)
