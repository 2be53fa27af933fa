import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from morl_blocks.critics import AttentionWeightedCritic, SharedCritic
from morl_blocks.scalarizers import (
    AdaptiveSmoothTchebycheff,
    Linear,
    Scalarizer,
    SmoothTchebycheff,
    Tchebycheff,
    tchebycheff,
)
from morl_blocks.schedulers import Fixed
from tests.refusals import refused

BLOCKS = [Linear(), Tchebycheff(), SmoothTchebycheff(), AdaptiveSmoothTchebycheff(Fixed(1.0))]
NAN, INF = float("nan"), float("inf")
W = torch.tensor([0.5, 0.5])


@pytest.mark.parametrize("block", BLOCKS, ids=lambda b: type(b).__name__)
@pytest.mark.parametrize("method", ["__call__", "gradient", "attention"])
@pytest.mark.parametrize(
    ("values", "weights", "message"),
    [
        ([NAN, 0.0], [0.5, 0.5], r"`values` must be finite, got nan"),
        ([1.0, 0.0], [-0.5, 1.5], r"`weights` must be >= 0, got -0.5"),
        ([1.0, 0.0], [0.5, 0.6], r"`weights` must sum to 1, got a sum of 1\.1"),
        ([1.0, 0.0], [0.2, 0.3, 0.5], r"`weights` must have 2 objectives in its last dimension, got shape \[3\]"),
        ([1.0, 0.0], [[0.5, 0.5]] * 3, r"`weights` must broadcast to shape \[2\], got shape \[3, 2\]"),
        ([1.0], [1.0], r"`values` must have at least 2 objectives in its last dimension, got shape \[1\]"),
    ],
)
def test_bad_values_and_weights(
    block: Scalarizer, method: str, values: list[float], weights: list[float], message: str
) -> None:
    refused(message, getattr(block, method), torch.tensor(values), torch.tensor(weights))


@pytest.mark.parametrize("block", BLOCKS, ids=lambda b: type(b).__name__)
@pytest.mark.parametrize("method", ["__call__", "gradient", "attention"])
@pytest.mark.parametrize("steps", [2, 5])
def test_weights_of_runs_are_never_taken_for_weights_of_steps(block: Scalarizer, method: str, steps: int) -> None:
    values, weights = torch.rand(2, steps, 3), torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    call = getattr(block, method)
    message = r"`weights` must be one vector or have 3 dimensions \(of size 1 where shared\), .*, got shape \[2, 3\]"
    refused(message, call, values, weights)
    whole = call(values, weights.unsqueeze(1))
    for run in range(2):
        torch.testing.assert_close(whole[run], call(values[run], weights[run]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_an_attention_in_half_precision_is_one(dtype: torch.dtype) -> None:
    values = torch.rand(500, 50, generator=torch.Generator().manual_seed(0)).to(dtype)
    attention = SmoothTchebycheff(0.1).attention(values, torch.full((50,), 0.02))
    assert attention.dtype == dtype
    critic = AttentionWeightedCritic(SharedCritic(4, 50))
    assert torch.isfinite(critic.loss(values, torch.zeros_like(values), attention))
    refused("`weights` must sum to 1", Linear(), torch.rand(2).to(dtype), torch.tensor([0.5, 0.6], dtype=dtype))
    # The gap to the utopia point keeps its digits, too.
    near = torch.ones(2, dtype=dtype), torch.tensor([0.0625, 0.9375], dtype=dtype)
    for found in (Tchebycheff()(*near), tchebycheff(*near, 1.05)):
        assert found.dtype == dtype
        assert float(found) == pytest.approx(-0.05 * 0.9375, rel=0.004)


def test_bad_options_and_masked_values() -> None:
    refused("`values` must have no mask", Linear(), np.ma.masked_array([1.0, 2.0], [True, False]), W)
    for mu in (0.0, -1.0, NAN, INF):
        refused(f"`mu` must be > 0, got {mu}", SmoothTchebycheff, mu)
    refused("`mu` must be > 0, got -2", SmoothTchebycheff, torch.tensor([1.0, -2.0]))
    refused(r"`mu` must broadcast to shape \[4\], got shape", SmoothTchebycheff(torch.ones(3)), torch.rand(4, 2), W)
    with pytest.warns(UserWarning, match="`utopia` should be >= 1"):
        Tchebycheff(utopia=0.9)
    refused("`utopia` must be finite, got nan", SmoothTchebycheff, utopia=NAN)
    refused(r"`utopia` must broadcast to shape \[2\]", Tchebycheff(utopia=torch.full((3,), 1.05)), torch.rand(2), W)
    refused("`sense` must be one of 'max', 'min', got 'maximize'", Linear, sense="maximize")
    refused("`attention` must be one of 'softmax', 'gradient', got 'soft'", SmoothTchebycheff, attention="soft")


def test_huge_values_whose_sum_overflows_and_nearly_normalised_weights_are_accepted() -> None:
    assert Linear()(torch.full((2,), 3e38), W).isfinite()
    assert Linear()(torch.tensor([0.5, 0.5]), torch.tensor([0.33335, 0.66667])).isfinite()


class Nash(Scalarizer):
    """A user's scalarizer: the one method."""

    def score(self, values: Tensor, weights: Tensor) -> Tensor:
        return (weights * values.log()).sum(-1)


class Flat(Scalarizer):
    """One whose gradient is zero everywhere."""

    def score(self, values: Tensor, weights: Tensor) -> Tensor:
        return (values * 0.0).sum(-1)


def test_one_method_makes_a_scalarizer() -> None:
    values, weights = torch.rand(4, 5, 3) + 0.1, torch.rand(4, 1, 3).softmax(-1)
    slope = weights / values
    torch.testing.assert_close(Nash()(values, weights), (weights * values.log()).sum(-1))
    torch.testing.assert_close(Nash().attention(values, weights), slope / slope.sum(-1, keepdim=True))
    torch.testing.assert_close(Flat().attention(torch.rand(5, 2), W), torch.full((5, 2), 0.5))  # no slope: uniform
    for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        with mode():
            torch.testing.assert_close(Nash().gradient(values.clone(), weights.clone()), slope)
    leaf = torch.tensor([0.2, 0.5], requires_grad=True)
    Nash().gradient(leaf, W).sum().backward()  # a second time
    torch.testing.assert_close(leaf.grad, -W / leaf.detach().square())


@pytest.mark.parametrize("block", [*BLOCKS, Nash()], ids=lambda b: type(b).__name__)
@pytest.mark.parametrize("method", ["__call__", "gradient", "attention"])
def test_lifts_through_vmap_and_compile(block: Scalarizer, method: str) -> None:
    values, weights = torch.rand(7, 3) + 0.1, torch.tensor([0.2, 0.3, 0.5])
    call = getattr(block, method)
    torch.testing.assert_close(torch.vmap(call, in_dims=(0, None))(values, weights), call(values, weights))
    kernel = {"__call__": block.score, "gradient": block.differentiate, "attention": block.attend}[method]
    for function in (kernel, call) if isinstance(block, SmoothTchebycheff) else (kernel,):
        compiled = torch.compile(function, fullgraph=True, backend="eager")
        torch.testing.assert_close(compiled(values, weights), function(values, weights))


SMOOTH = itertools.product([1e-4, 0.05, 1.0, 1e4], ["max", "min"], [False, True])


@pytest.mark.parametrize(
    "block",
    [
        Linear(),
        Linear(sense="min"),
        AdaptiveSmoothTchebycheff(Fixed(1.0)),
        *(SmoothTchebycheff(mu, sense=sense, mask_zero_weight=mask) for mu, sense, mask in SMOOTH),  # type: ignore[arg-type]
    ],
    ids=str,
)
def test_own_gradients_equal_autograd(block: Scalarizer) -> None:
    values, weights = torch.rand(2, 50, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    weights[:10, 0] = 0
    weights = weights / weights.sum(-1, keepdim=True)
    block = block.double()
    torch.testing.assert_close(block.gradient(values, weights), Scalarizer.differentiate(block, values, weights))
    if isinstance(block, Linear):
        torch.testing.assert_close(block.attention(values, weights), weights)


def test_a_missing_method_fails_at_construction_by_name() -> None:
    class Empty(Scalarizer):
        pass

    with pytest.raises(TypeError, match="score"):
        Empty()  # type: ignore[abstract]


class Unsummed(Scalarizer):
    def score(self, values: Tensor, weights: Tensor) -> Tensor:
        return weights * values


class Nothing(Scalarizer):
    def score(self, values: Tensor, weights: Tensor) -> Tensor:
        return (weights * values).sum(-1) * torch.nan


@pytest.mark.parametrize("method", ["forward", "gradient", "attention"])
def test_a_score_of_another_shape_or_without_finite_numbers_names_the_block(method: str) -> None:
    # The sum of an unsummed score has the right gradient, and NaN would become a uniform attention.
    refused(r"`Unsummed.score` must have shape \[5\], got shape \[5", getattr(Unsummed(), method), torch.rand(5, 2), W)
    for block in (Nothing(), Nash()):
        name, call = type(block).__name__, getattr(block, method)
        refused(f"`{name}` must give finite numbers for `values` of size 1", call, torch.tensor([0.0, 1.0]), W)


@pytest.mark.parametrize("mu", [1e-3, 0.1, 1.0, 10.0, 1e3, 1e6])
@pytest.mark.parametrize("mask", [False, True])
@given(st.integers(0, 1000), st.floats(-6, 0))
def test_difference_keeps_its_digits(mu: float, mask: bool, seed: int, exponent: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    values = torch.rand(3, generator=generator)
    others = (values + 10**exponent * torch.randn(3, generator=generator)).clamp(0, 1)
    weights = torch.tensor([0.5, 0.5, 0.0]) if mask else torch.tensor([0.5, 0.3, 0.2])
    block = SmoothTchebycheff(mu, mask_zero_weight=mask)
    exact = block.double()(values.double(), weights.double()) - block(others.double(), weights.double())
    block.float()
    size = float((values - others).abs().max())
    tolerance = 1e-5 * size + 2e-7 + 1e-15 * mu  # digits of the step, of the values, and of the oracle
    assert float(block.difference(values, others, weights)) == pytest.approx(float(exact), abs=tolerance)


@pytest.mark.parametrize("block", [*BLOCKS, Nash()], ids=lambda b: type(b).__name__)
def test_difference_is_the_difference_of_scores(block: Scalarizer) -> None:
    values, others, weights = torch.rand(6, 3) + 0.1, torch.rand(6, 3) + 0.1, torch.rand(6, 3).softmax(-1)
    expected = block(values, weights) - block(others, weights)
    torch.testing.assert_close(block.difference(values, others, weights), expected, atol=1e-5, rtol=1e-4)
    refused(r"`others` must have shape \[6, 3\], got shape \[3\]", block.difference, values, others[0], weights)
    refused("`values` must be small enough", Linear().difference, torch.full((2,), 3e38), torch.full((2,), -3e38), W)
