from importlib import import_module
from importlib.util import find_spec
from unittest.mock import Mock

import pytest
import torch
from torch import Generator, Tensor

from morl_blocks.combiners import Combiner, PCGrad, Sum, TorchJD, WeightedPCGrad, WeightedSum, conflict_ratio
from tests.refusals import refused

BLOCKS: list[Combiner] = [Sum(), WeightedSum(), PCGrad(), WeightedPCGrad()]
if find_spec("torchjd") is not None:
    BLOCKS.append(TorchJD(import_module("torchjd.aggregation").UPGradWeighting()))
HALF = torch.tensor([0.5, 0.5])


@pytest.mark.parametrize("block", BLOCKS, ids=lambda b: type(b).__name__)
def test_bad_gramians(block: Combiner) -> None:
    nan = torch.tensor([[1.0, float("nan")], [float("nan"), 1.0]])
    refused("`gramian` must be finite, got nan", block.weights, nan, HALF)
    refused(r"`gramian` must be square, \[\*R, m, m\], got shape \[2, 3\]", block.weights, torch.ones(2, 3), HALF)
    refused("`gramian` must be symmetric", block.weights, torch.tensor([[1.0, 0.0], [1.0, 1.0]]), HALF)
    refused("`gramian` must be square", block.weights, torch.ones(2), HALF)
    refused("`gramian` must have at least 2 objectives", conflict_ratio, torch.eye(1))


@pytest.mark.parametrize("block", [WeightedSum(), WeightedPCGrad()], ids=lambda b: type(b).__name__)
def test_bad_attention(block: Combiner) -> None:
    gramian = torch.eye(2)
    refused(f"`attention` must be given to {type(block).__name__}, got None", block.weights, gramian)
    refused("`attention` must sum to 1, got a sum of 2", block.weights, gramian, torch.ones(2))
    refused("`attention` must be >= 0, got -1", block.weights, gramian, torch.tensor([2.0, -1.0]))
    refused("`attention` must have 2 objectives in its last", block.weights, gramian, torch.full((3,), 1 / 3))
    refused(r"`attention` must broadcast to shape \[2\], got shape \[1", block.weights, gramian, HALF.expand(1, 3, 2))


class Mine(Combiner):
    """A user's combiner: the one method."""

    def combine(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> Tensor:
        return 1 / gramian.diagonal(dim1=-2, dim2=-1)


class Dropping(Combiner):
    """A user's combiner that draws: drop objectives at random."""

    def draw(self, shape: tuple[int, ...], generator: Generator) -> Tensor:
        return torch.rand(shape, generator=generator)

    def combine(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> Tensor:
        assert noise is not None
        return (noise > 0.5).to(gramian.dtype)


def gramians() -> Tensor:
    jacobian = torch.randn(4, 5, 3, 7, generator=torch.Generator().manual_seed(0))
    return jacobian @ jacobian.mT


def test_one_method_makes_a_combiner_and_one_that_draws_depends_on_the_generator_alone() -> None:
    jacobian = torch.tensor([[2.0, 0.0], [0.0, 4.0]])
    torch.testing.assert_close(Mine()(jacobian), torch.tensor([0.5, 0.25]))
    assert Mine().draw((3,), torch.Generator()) is None
    first, second = (Dropping().weights(gramians(), generator=torch.Generator().manual_seed(s)) for s in (1, 2))
    assert not torch.equal(first, second)


@pytest.mark.parametrize("block", [*BLOCKS, Mine(), Dropping()], ids=lambda b: type(b).__name__)
def test_weights_are_draw_and_combine_also_lifted_and_compiled(block: Combiner) -> None:
    grams, attention = gramians(), torch.full((4, 5, 3), 1 / 3)
    noise = block.draw((4, 5, 3), torch.Generator().manual_seed(3))
    weights = block.weights(grams, attention, torch.Generator().manual_seed(3))
    if block.batched:
        torch.testing.assert_close(block.combine(grams, attention, noise), weights, rtol=0, atol=0)
        drawn, conflict = None if noise is None else 0, block.conflict(grams, noise)
        compiled = torch.compile(block.combine, fullgraph=True, backend="eager")
        torch.testing.assert_close(compiled(grams, attention, noise), weights)
        lifted = torch.func.vmap(block.combine, in_dims=(0, 0, drawn))
        torch.testing.assert_close(lifted(grams, attention, noise), weights)
        torch.testing.assert_close(torch.func.vmap(block.conflict, in_dims=(0, drawn))(grams, noise), conflict)
    alone = block.combine(grams[1, 2], attention[1, 2], None if noise is None else noise[1, 2])
    torch.testing.assert_close(alone, weights[1, 2])
    assert block.conflict(grams, noise).shape == (4, 5)


def test_errors_name_the_combiner_not_the_gradients() -> None:
    class Empty(Combiner):
        pass

    class Wrong(Combiner):
        def combine(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> Tensor:
            return gramian

    with pytest.raises(TypeError, match="combine"):
        Empty()  # type: ignore[abstract]
    refused(r"`Wrong.combine` must return weights of shape \[2\], got shape \[2, 2\]", Wrong().weights, torch.eye(2))
    zero = torch.tensor([[1.0, 0.0], [0.0, 0.0]])
    refused("`Mine` must give finite numbers for `jacobian` of size 1", Mine(), zero)
    refused("`Mine` must give finite numbers for `gramian` of size 1", Mine().weights, zero)


def test_a_state_from_another_device_is_restored() -> None:
    seeded = PCGrad(seed=3)
    state = Mock(wraps=seeded.get_extra_state())  # on another device: a generator of the CPU takes it from there only
    state.cpu.return_value = seeded.get_extra_state()
    other = PCGrad()
    other.set_extra_state(state)
    assert torch.equal(other.weights(gramians()), seeded.weights(gramians()))
