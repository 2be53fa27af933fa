import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff, smooth_attention
from morl_blocks.schedulers import SelfTuned, resolution
from tests.refusals import refused

UTOPIA = 1.05


def samples(*shape: int, seed: int = 0) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


def test_closed_form() -> None:
    gaps = torch.tensor([[0.0, 5.0], [2.0, 5.0]])  # variances 1 and 0
    beta = math.sqrt(6) / math.pi * math.sqrt(0.5)
    assert float(resolution(gaps)) == pytest.approx(beta)
    scheduler = SelfTuned()
    assert float(scheduler.step(0.0, 0.75, gaps)) == pytest.approx(4 * beta)
    assert float(scheduler.step(0.3, 0.0)) == pytest.approx(beta)
    assert float(scheduler.step(1.0, 1.0)) == pytest.approx(1000 * beta, rel=1e-4)


def test_the_scalarizer_hands_over_its_gaps() -> None:
    values, weights = samples(8, 2), torch.tensor([0.3, 0.7])
    scalarizer = AdaptiveSmoothTchebycheff(SelfTuned(), utopia=UTOPIA)
    mu = scalarizer.step(0.0, 0.25, values, weights)
    torch.testing.assert_close(mu, SelfTuned().step(0.0, 0.25, weights * (UTOPIA - values)))


@given(st.floats(1e-3, 1e3), st.floats(-100, 100), st.integers(0, 20))
def test_scaling_and_shifting_gaps(scale: float, shift: float, seed: int) -> None:
    gaps = samples(32, 3, seed=seed).double()
    torch.testing.assert_close(resolution(scale * gaps), scale * resolution(gaps))
    torch.testing.assert_close(resolution(gaps + shift), resolution(gaps))
    before, after = (SelfTuned().double().step(0.0, 0.5, y) for y in (gaps, scale * gaps + shift))
    torch.testing.assert_close(smooth_attention(scale * gaps + shift, after), smooth_attention(gaps, before))


@pytest.mark.parametrize("constant", [0.0, 0.7, -3e5])
def test_gaps_that_never_vary_are_told_apart_as_rounding_can(constant: float) -> None:
    gaps = torch.tensor([constant, constant - 1]).expand(4, 2)
    mu = SelfTuned().step(0.0, 0.0, gaps)
    assert 0 < float(mu) < 1e-6 * max(1.0, abs(constant))
    torch.testing.assert_close(smooth_attention(gaps[0], mu), torch.tensor([1.0, 0.0]))
    assert SelfTuned().step(0.0, 0.0, torch.zeros(4, 2)) > 0


def test_rejects() -> None:
    scheduler = SelfTuned()
    refused("`gaps` must have at least 2 objectives", scheduler.step, 0.0, 0.0, torch.rand(8, 1))
    refused(r"`gaps` must be \[\*R, N, m\] with N >= 2, got shape \[1, 2\]", scheduler.step, 0.0, 0.0, torch.rand(1, 2))
    refused("`gaps` must be finite, got nan", scheduler.step, 0.0, 0.0, torch.full((8, 2), math.nan))
    refused("`gaps` must be given to SelfTuned in its first step, got None", scheduler.step, 0.0, 0.0, None)
    assert scheduler.mu == 1.0
