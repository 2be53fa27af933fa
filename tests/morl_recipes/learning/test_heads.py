import pytest
import torch

from morl_recipes.learning.heads import CategoricalHead, GaussianHead, Head

RUNS, BATCH, ACTIONS = 2, 6, 3


def _case(kind: str) -> tuple[Head, torch.Tensor, dict[str, torch.Tensor], torch.Tensor]:
    raw = torch.randn(RUNS, BATCH, ACTIONS, requires_grad=True)
    if kind == "gaussian":
        params = {"log_std": torch.randn(RUNS, ACTIONS, requires_grad=True)}
        return GaussianHead(-torch.ones(ACTIONS), torch.ones(ACTIONS)), raw, params, torch.randn(RUNS, BATCH, ACTIONS)
    return CategoricalHead(ACTIONS), raw, {}, torch.randint(ACTIONS, (RUNS, BATCH, 1)).float()


@pytest.mark.parametrize("kind", ["gaussian", "categorical"])
def test_score_is_the_derivative_of_the_log_probability(kind: str) -> None:
    head, raw, params, action = _case(kind)
    log_prob, slope, extra = head.score(raw, params, action)
    torch.testing.assert_close(log_prob, head.log_prob(raw, params, action))
    leaves = [raw, *params.values()]
    expected, *others = torch.autograd.grad(head.log_prob(raw, params, action).sum(), leaves)
    torch.testing.assert_close(slope, expected)
    for own, other in zip(extra.values(), others, strict=True):
        torch.testing.assert_close(own.sum(1), other)


@pytest.mark.parametrize("kind", ["gaussian", "categorical"])
def test_entropy_slope_is_the_derivative_of_the_entropy(kind: str) -> None:
    head, raw, params, _ = _case(kind)
    slope, extra = head.entropy_slope(raw)
    entropy = head.entropy(raw, params).mean(-1).sum()
    leaves = [raw, *params.values()]
    expected, *others = torch.autograd.grad(entropy, leaves, allow_unused=True)
    if slope is None:
        assert expected is None
    else:
        torch.testing.assert_close(slope / BATCH, expected)
    for own, other in zip(extra.values(), others, strict=True):
        torch.testing.assert_close(own, other)


def test_gaussian_actions_stay_in_bounds_and_finite() -> None:
    head = GaussianHead(torch.tensor([-2.0]), torch.tensor([4.0]))
    actions = head.to_env(torch.tensor([[[-9.0], [0.5], [9.0], [torch.nan]]]))
    assert actions.flatten().tolist() == [-2.0, 1.0, 4.0, 1.0]


def test_categorical_head_samples_by_probability_and_plays_the_mode() -> None:
    head = CategoricalHead(2)
    raw = torch.tensor([0.0, 1.0]).expand(1, 20_000, 2)
    actions = head.sample(raw, {}, torch.rand(1, 20_000, 2, generator=torch.Generator().manual_seed(0)))
    assert actions.mean().item() == pytest.approx(0.7311, abs=0.01)
    assert head.mode(raw).unique().tolist() == [1.0]
    assert head.to_env(actions).dtype == torch.int64
