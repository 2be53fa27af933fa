import pytest
import torch
from torch import Generator

from morl_blocks.preferences import Dirichlet, Uniform, dirichlet_preferences
from tests.refusals import refused


def _generator(seed: int = 0) -> Generator:
    return Generator().manual_seed(seed)


@pytest.mark.parametrize(
    ("alpha", "m"), [(0.3, 2), (1.0, 3), (5.0, 4), (1e-2, 2), (1e-3, 2), (1e-3, 3), (1e-4, 4), (1e-30, 3)]
)
def test_mean_and_variance_are_those_of_the_distribution(alpha: float, m: int) -> None:
    drawn = dirichlet_preferences(alpha, 40_000, m, _generator())
    assert bool((drawn >= 0).all())
    torch.testing.assert_close(drawn.sum(-1), torch.ones(40_000).double())
    torch.testing.assert_close(drawn.mean(0), torch.full((m,), 1 / m).double(), atol=0.01, rtol=0)
    expected = (1 / m) * (1 - 1 / m) / (m * alpha + 1)
    torch.testing.assert_close(drawn.var(0), torch.full((m,), expected).double(), atol=0.002, rtol=0)
    if alpha < 0.1:  # corners alike
        assert int((drawn.amax(-1) < 0.6).sum()) <= 40_000 * 4 * alpha * m


@pytest.mark.parametrize("alpha", [0.05, 0.3, 1.0, 5.0])
def test_an_ordinary_alpha_draws_plain_quotients(alpha: float) -> None:
    ours, theirs = _generator(), _generator()
    numbers = torch._standard_gamma(torch.full((1000, 3), alpha, dtype=torch.float64), generator=theirs)
    assert torch.equal(dirichlet_preferences(alpha, 1000, 3, ours), numbers / numbers.sum(-1, keepdim=True))
    assert torch.equal(ours.get_state(), theirs.get_state())


def test_uniform_is_the_dirichlet_of_alpha_1_and_the_generator_the_only_source() -> None:
    drawn = Uniform()(50, 3, _generator())
    torch.manual_seed(1)
    assert torch.equal(drawn, Dirichlet(1.0)(50, 3, _generator()))
    assert not torch.equal(drawn, Uniform()(50, 3, _generator(4)))
    first = Uniform()(40_000, 2, _generator())[:, 0]
    torch.testing.assert_close(first.quantile(torch.tensor([0.25, 0.5])), torch.tensor([0.25, 0.5]), atol=0.01, rtol=0)
    for alpha in (0.0, -1.0, float("nan")):
        refused("`alpha` must be > 0", Dirichlet, alpha)
