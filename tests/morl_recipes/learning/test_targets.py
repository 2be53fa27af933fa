import pytest
import torch

from morl_blocks.ppo import (
    ExpectationAdvantage,
    ReturnNormalizer,
    ScalarisedAdvantage,
    VectorAdvantage,
    expectation_advantage,
    scalarised_advantage,
    vector_advantage,
)
from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff, SmoothTchebycheff
from morl_blocks.schedulers import Fixed, resolution
from morl_recipes import ROWS, Recipe
from morl_recipes.learning.blocks import Scalarizers
from morl_recipes.learning.targets import learning_targets, restore
from morl_recipes.recipe import specs

RUNS, STEPS, M = 2, 30, 3
LINEAR = Scalarizers([Recipe(scalarizer=specs.Linear(), mu=None)] * RUNS)
Raw = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


@pytest.fixture
def raw() -> Raw:
    torch.manual_seed(0)
    advantage, returns, value = (torch.randn(RUNS, STEPS, M) * 5 for _ in range(3))
    return advantage, returns, value


@pytest.fixture
def preferences() -> torch.Tensor:
    return torch.rand(RUNS, STEPS, M).softmax(-1)


def _normalizer(low: float, high: float) -> ReturnNormalizer:
    normalizer = ReturnNormalizer(M, (RUNS,))
    normalizer.low.fill_(low)
    normalizer.high.fill_(high)
    return normalizer


def test_pasta_targets_are_those_of_each_run_alone(raw: Raw, preferences: torch.Tensor) -> None:
    advantage, returns, _ = raw
    pairs = ((0.1, 1.05), (2.0, 1.5))
    recipes = [Recipe(scalarizer=specs.AdaptiveSmoothTchebycheff(utopia), mu=specs.Fixed(mu)) for mu, utopia in pairs]
    normalizer = _normalizer(-20.0, 1.0)
    forms = [VectorAdvantage()] * RUNS
    targets = learning_targets(raw, preferences, normalizer, Scalarizers(recipes), forms, normalize_targets=False)
    torch.testing.assert_close(normalizer.low, torch.full((RUNS, M), -20.0))
    torch.testing.assert_close(normalizer.high, returns.amax(1))  # bounds are widened before they are used
    for run, (mu, utopia) in enumerate(pairs):
        single = AdaptiveSmoothTchebycheff(Fixed(mu), utopia)
        normalized = (returns[run] + 20) / (returns[run].amax(0) + 20)
        torch.testing.assert_close(targets.attention[run], single.attention(normalized, preferences[run]))
    torch.testing.assert_close(targets.advantage, vector_advantage(advantage))
    assert torch.equal(targets.target, returns)


def test_scalarised_advantage_compares_utilities(raw: Raw, preferences: torch.Tensor) -> None:
    _, returns, value = raw
    normalizer = _normalizer(0.0, 1.0)
    forms = [ScalarisedAdvantage()] * RUNS
    targets = learning_targets(raw, preferences, normalizer, LINEAR, forms, normalize_targets=True)
    span, low = (normalizer.high - normalizer.low).unsqueeze(1), normalizer.low.unsqueeze(1)
    expected = scalarised_advantage(lambda x: (x * preferences).sum(-1), (returns - low) / span, (value - low) / span)
    torch.testing.assert_close(targets.advantage, expected.unsqueeze(-1))
    torch.testing.assert_close(targets.target, (returns - low) / span)
    assert float(targets.target.min()) >= 0
    assert float(targets.target.max()) <= 1


def test_a_self_tuned_smoothness_follows_from_the_returns_of_this_iteration(
    raw: Raw, preferences: torch.Tensor
) -> None:
    scalarizers = Scalarizers([Recipe(mu=specs.SelfTuned())] * RUNS)
    normalizer, forms, conflict = _normalizer(0.0, 1.0), [VectorAdvantage()] * RUNS, torch.tensor([0.0, 0.5])
    learning_targets(raw, preferences, normalizer, scalarizers, forms, (0.0, conflict), normalize_targets=False)
    gaps = preferences * (1.05 - normalizer.normalize(raw[1]))
    torch.testing.assert_close(scalarizers.mu, resolution(gaps) / (1 - conflict))


def test_utility_is_weighed_at_the_expected_return(raw: Raw, preferences: torch.Tensor) -> None:
    """Raw expected returns are normalised by the run's bounds, and the weights are in raw units."""
    scalarizers = Scalarizers([ROWS["ours"]["SER-STCH"]] * RUNS)
    normalizer, forms = _normalizer(-20.0, 20.0), [ExpectationAdvantage()] * RUNS
    expected, low = torch.rand(RUNS, STEPS, M) * 10, torch.tensor([-80.0, -40.0, -20.0])
    normalizer.low.copy_(low.expand(RUNS, M))
    given = learning_targets(
        raw, preferences, normalizer, scalarizers, forms, normalize_targets=False, expected=expected
    )
    slope = SmoothTchebycheff(0.1).gradient((expected - low) / (20 - low), preferences) / (20 - low)
    torch.testing.assert_close(given.advantage.squeeze(-1), expectation_advantage(raw[0], slope), rtol=1e-4, atol=1e-4)


def test_raw_returns_are_weighed_as_they_are(raw: Raw, preferences: torch.Tensor) -> None:
    _, returns, value = raw
    forms = [ScalarisedAdvantage("raw")] * RUNS
    targets = learning_targets(raw, preferences, _normalizer(0.0, 1.0), LINEAR, forms, normalize_targets=False)
    expected = vector_advantage(((returns - value) * preferences).sum(-1, keepdim=True))
    torch.testing.assert_close(targets.advantage, expected)


def test_a_run_with_nan_leaves_the_others_as_they_are(raw: Raw, preferences: torch.Tensor) -> None:
    forms = [ScalarisedAdvantage()] * RUNS
    empty = ReturnNormalizer(M, (RUNS,))
    well = learning_targets(raw, preferences, empty, LINEAR, forms, normalize_targets=False)
    raw[1][1] = torch.nan
    sick = learning_targets(raw, preferences, ReturnNormalizer(M, (RUNS,)), LINEAR, forms, normalize_targets=False)
    assert torch.equal(well.advantage[0], sick.advantage[0])
    assert torch.equal(well.attention[0], sick.attention[0])


def test_bounds_restore_what_they_normalised() -> None:
    normalizer = ReturnNormalizer(2, (1,))
    assert restore(normalizer, torch.ones(1, 1, 2)).tolist() == [[[1.0, 1.0]]]
    normalizer.low.copy_(torch.tensor([[0.0, -2.0]]))
    normalizer.high.copy_(torch.tensor([[4.0, 2.0]]))
    assert restore(normalizer, torch.tensor([[[0.5, 0.25]]])).tolist() == [[[2.0, -1.0]]]
