import pytest
import torch

from morl_blocks.ppo import scalarised_advantage, vector_advantage
from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff, Linear
from morl_blocks.schedulers import Fixed
from morl_recipes.learning.targets import Bounds, learn_from

RUNS, STEPS, M = 2, 30, 3


@pytest.fixture
def data() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    preferences = torch.rand(RUNS, M).softmax(-1)
    return (*(torch.randn(RUNS, STEPS, M) * 5 for _ in range(3)), preferences)


def test_pasta_targets_are_those_of_each_run_alone(data: tuple[torch.Tensor, ...]) -> None:
    advantage, returns, value, preferences = data
    scalarizer = AdaptiveSmoothTchebycheff(Fixed(torch.tensor([0.1, 2.0])), torch.tensor([1.05, 1.5]).reshape(2, 1, 1))
    bounds = Bounds(torch.full((RUNS, M), -20.0), torch.full((RUNS, M), 1.0))
    targets, after = learn_from(
        advantage, returns, value, bounds, scalarizer, preferences, scalarised=False, normalize_targets=False
    )
    torch.testing.assert_close(after.low, torch.full((RUNS, M), -20.0))
    torch.testing.assert_close(after.high, returns.amax(1))  # bounds are widened before they are used
    for run, (mu, utopia) in enumerate(((0.1, 1.05), (2.0, 1.5))):
        single = AdaptiveSmoothTchebycheff(Fixed(mu), utopia)
        normalized = (returns[run] + 20) / (returns[run].amax(0) + 20)
        torch.testing.assert_close(targets.attention[run], single.attention(normalized, preferences[run]))
    torch.testing.assert_close(targets.advantage, vector_advantage(advantage))
    assert torch.equal(targets.target, returns)


def test_scalarised_advantage_compares_utilities(data: tuple[torch.Tensor, ...]) -> None:
    advantage, returns, value, preferences = data
    bounds = Bounds(torch.zeros(RUNS, M), torch.ones(RUNS, M))
    targets, after = learn_from(
        advantage, returns, value, bounds, Linear(), preferences, scalarised=True, normalize_targets=True
    )
    span, low = (after.high - after.low).unsqueeze(1), after.low.unsqueeze(1)
    expected = scalarised_advantage(
        lambda x: (x * preferences.unsqueeze(1)).sum(-1), (returns - low) / span, (value - low) / span
    )
    torch.testing.assert_close(targets.advantage, expected.unsqueeze(-1))
    torch.testing.assert_close(targets.target, (returns - low) / span)
    assert float(targets.target.min()) >= 0
    assert float(targets.target.max()) <= 1


def test_a_run_with_nan_leaves_the_others_as_they_are(data: tuple[torch.Tensor, ...]) -> None:
    advantage, returns, value, preferences = data
    arguments = (Bounds.empty(RUNS, M, "cpu"), Linear(), preferences)
    well, _ = learn_from(advantage, returns, value, *arguments, scalarised=True, normalize_targets=False)
    returns[1] = torch.nan
    sick, _ = learn_from(advantage, returns, value, *arguments, scalarised=True, normalize_targets=False)
    assert torch.equal(well.advantage[0], sick.advantage[0])
    assert torch.equal(well.attention[0], sick.attention[0])


def test_bounds_restore_what_they_normalised() -> None:
    bounds = Bounds(torch.tensor([[0.0, -2.0]]), torch.tensor([[4.0, 2.0]]))
    assert bounds.restore(torch.tensor([[[0.5, 0.25]]])).tolist() == [[[2.0, -1.0]]]
    assert Bounds.empty(1, 2, "cpu").restore(torch.ones(1, 1, 2)).tolist() == [[[1.0, 1.0]]]
