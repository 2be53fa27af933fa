import copy
import itertools
from typing import Literal
from unittest.mock import patch

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from morl_blocks.combiners import PCGrad, WeightedPCGrad, pcgrad_projections, projected_conflict, random_order
from tests.morl_blocks.combiners import oracles
from tests.morl_blocks.strategies import jacobians
from tests.refusals import refused

seeds = st.integers(0, 2**31)


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(
    ("jacobian", "expected"),
    [
        ([[1.0, 0.0], [-1.0, 1.0]], [0.5, 1.5]),
        ([[1.0, 0.0], [-2.0, 0.0]], [0.0, 0.0]),  # opposite: nothing is left
        ([[1.0, 0.0], [2.0, 0.0]], [3.0, 0.0]),  # parallel: the plain sum
        ([[0.0, 0.0], [1.0, -1.0]], [1.0, -1.0]),  # one zero gradient
        ([[0.0, 0.0], [0.0, 0.0]], [0.0, 0.0]),
    ],
)
def test_two_objectives(jacobian: list[list[float]], expected: list[float]) -> None:
    torch.testing.assert_close(PCGrad()(torch.tensor(jacobian)), torch.tensor(expected))


@pytest.mark.needs("torchjd")
@given(st.integers(2, 5).flatmap(jacobians), seeds)
def test_equals_torchjd_in_the_same_order(jacobian: Tensor, seed: int) -> None:
    from torchjd.aggregation import PCGradWeighting

    gramian = jacobian @ jacobian.T
    order = random_order((len(jacobian),), generator(seed))
    with patch("torch.randperm", side_effect=list(order)):
        expected = PCGradWeighting()(gramian)
    torch.testing.assert_close(PCGrad().weights(gramian, generator=generator(seed)), expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_batched_equals_looped(weighted: bool) -> None:
    jacobian = torch.randn(4, 5, 3, 7, generator=generator(0), dtype=torch.float64)
    attention = torch.rand(4, 5, 3, generator=generator(1), dtype=torch.float64).softmax(-1)
    order = random_order((4, 5, 3), generator(2))
    block = WeightedPCGrad() if weighted else PCGrad()
    together = block(jacobian, attention, generator=generator(2))
    if weighted:
        shares = WeightedPCGrad(rescale=False)(jacobian, attention, generator(2))
        torch.testing.assert_close(3 * shares, together)
    for a, b in itertools.product(range(4), range(5)):
        share = 3 * attention[a, b] if weighted else torch.ones(3, dtype=torch.float64)
        expected = share @ oracles.pcgrad(jacobian[a, b], order[a, b])
        torch.testing.assert_close(together[a, b], expected)


def test_the_attention_of_a_minibatch_is_averaged() -> None:
    jacobian, weighted = torch.randn(3, 6, generator=generator(0)), WeightedPCGrad()
    per_sample = torch.rand(10, 3, generator=generator(1)).softmax(-1)
    averaged = weighted(jacobian, per_sample.mean(0), generator(3))
    torch.testing.assert_close(weighted(jacobian, per_sample, generator(3)), averaged)


def test_orders_come_from_the_generator_or_else_from_the_global_seed() -> None:
    jacobian = torch.randn(50, 5, 6, generator=generator(0))
    first = PCGrad()(jacobian, generator=generator(7))
    torch.manual_seed(3)
    torch.testing.assert_close(PCGrad()(jacobian, generator=generator(7)), first, rtol=0, atol=0)
    assert not torch.equal(PCGrad()(jacobian, generator=generator(8)), first)
    torch.manual_seed(3)
    one, other = PCGrad()(jacobian), PCGrad()(jacobian)
    assert not torch.equal(one, other)  # made anew it does not repeat its order
    torch.manual_seed(3)
    assert torch.equal(PCGrad()(jacobian), one)


def test_own_generator_is_seeded_moves_on_and_is_saved() -> None:
    jacobian = torch.randn(50, 5, 6, generator=generator(0))
    block, fresh = PCGrad(seed=3), PCGrad()
    first, state = block(jacobian), copy.deepcopy(block.state_dict())
    second = block(jacobian)
    assert not torch.equal(first, second)
    torch.testing.assert_close(PCGrad(seed=3)(jacobian), first, rtol=0, atol=0)
    fresh.load_state_dict(state)
    torch.testing.assert_close(fresh(jacobian), second, rtol=0, atol=0)


def test_every_order_is_equally_likely_and_a_seed_means_the_same_orders_as_ever() -> None:
    drawn = random_order((6000, 3), generator(0))[:, 0]
    _, counts = drawn.unique(dim=0, return_counts=True)
    assert len(counts) == 6
    assert counts.min() > 880
    expected = torch.rand(4, 3, 3, generator=generator(5)).argsort(-1)
    assert torch.equal(PCGrad().draw((4, 3), generator(5)), expected)
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.equal(PCGrad().draw((4, 3), generator(5)), expected)
    finally:
        torch.set_default_dtype(torch.float32)


@given(st.integers(1, 5).flatmap(jacobians), seeds)
def test_both_pairings_equal_projection_in_parameter_space(jacobian: Tensor, seed: int) -> None:
    gramian, order = jacobian @ jacobian.T, random_order((len(jacobian),), generator(seed))
    torch.testing.assert_close(pcgrad_projections(gramian, order) @ jacobian, oracles.pcgrad(jacobian, order))
    rows, negative, unsure = oracles.pcgrad_by_position(jacobian, order)
    torch.testing.assert_close(pcgrad_projections(gramian, order, "position") @ jacobian, rows)
    count = float(projected_conflict(gramian, order, "position")) * max(len(jacobian) * (len(jacobian) - 1), 1)
    assert negative - 1e-6 <= count <= negative + unsure + 1e-6


@pytest.mark.parametrize("pairing", ["index", "position"])
@pytest.mark.parametrize(("m", "expected"), [(2, 0.25), (3, 1 / 3), (4, 0.375)])
def test_projected_conflict_of_random_gradients(m: int, expected: float, pairing: Literal["index", "position"]) -> None:
    jacobian = torch.randn(4000, m, 200, generator=generator(0))
    gramian, order = jacobian @ jacobian.mT, random_order((4000, m), generator(1))
    block = PCGrad(pairing=pairing, conflict="projected")
    assert float(block.conflict(gramian, order).mean()) == pytest.approx(expected, abs=0.015)
    assert float(PCGrad(pairing=pairing).conflict(gramian, order).mean()) == pytest.approx(0.5, abs=0.015)


def test_readings_belong_to_the_weighted_one_too() -> None:
    jacobian, uniform = torch.randn(50, 4, 6, generator=generator(0)), torch.full((4,), 0.25)
    plain, weighted = PCGrad(pairing="position"), WeightedPCGrad(pairing="position", conflict="projected")
    torch.testing.assert_close(weighted(jacobian, uniform, generator(1)), plain(jacobian, generator=generator(1)))
    assert not torch.allclose(plain(jacobian, generator=generator(1)), PCGrad()(jacobian, generator=generator(1)))
    assert weighted.merge(jacobian, uniform, generator(1)).conflict.mean() < 0.45
    refused("`pairing` must be one of 'index', 'position', got 'name'", PCGrad, pairing="name")
    refused("`conflict` must be one of 'pairs', 'projected', got 'all'", WeightedPCGrad, conflict="all")
    refused(r"`order` must have shape \[3, 3\]", pcgrad_projections, torch.eye(3), torch.tensor([[0, 1], [1, 0]]))
    refused("`gramian` must be square", pcgrad_projections, torch.ones(2, 3), torch.tensor([[0, 1], [1, 0]]))
    refused("`noise` must be the orders that `draw` returned", PCGrad().combine, torch.eye(3), torch.ones(3) / 3, None)
