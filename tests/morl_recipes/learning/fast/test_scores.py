import pytest
import torch
from torch import Tensor

from morl_blocks.ppo import Actor, CategoricalActor, UnitBoxGaussianActor
from morl_recipes.learning.fast.update import score_of

RUNS, BATCH, ACTIONS = 2, 6, 3


class Case:
    """An actor's distribution at random numbers, as autograd sees it."""

    def __init__(self, kind: str) -> None:
        self.raw = torch.randn(RUNS, BATCH, ACTIONS, requires_grad=True)
        self.params: dict[str, Tensor] = {}
        self.actor: Actor
        if kind == "gaussian":
            self.params = {"log_std": torch.randn(RUNS, ACTIONS, requires_grad=True)}
            self.actor, self.action = UnitBoxGaussianActor(4, 2, ACTIONS), torch.randn(RUNS, BATCH, ACTIONS)
        else:
            self.actor, self.action = CategoricalActor(4, 2, ACTIONS), torch.randint(ACTIONS, (RUNS, BATCH))
        self.score = score_of(self.actor)

    @property
    def output(self) -> object:
        if not self.params:
            return self.raw
        return self.raw.sigmoid(), self.params["log_std"].unsqueeze(1).expand_as(self.raw)


@pytest.mark.parametrize("kind", ["gaussian", "categorical"])
def test_score_is_the_derivative_of_the_log_probability(kind: str) -> None:
    case = Case(kind)
    stacked = {name: param.unsqueeze(1) for name, param in case.params.items()}
    log_prob, slope, extra = case.score.score(case.raw, stacked, case.action)
    expected_log_prob = case.actor.log_prob(case.output, case.action)
    torch.testing.assert_close(log_prob, expected_log_prob)
    expected, *others = torch.autograd.grad(expected_log_prob.sum(), [case.raw, *case.params.values()])
    torch.testing.assert_close(slope, expected)
    for own, other in zip(extra.values(), others, strict=True):
        torch.testing.assert_close(own.sum(1), other)


@pytest.mark.parametrize("kind", ["gaussian", "categorical"])
def test_entropy_slope_is_the_derivative_of_the_entropy(kind: str) -> None:
    case = Case(kind)
    slope = case.score.entropy_slope(case.raw)
    entropy = case.actor.entropy(case.output).mean(-1).sum()
    expected, *others = torch.autograd.grad(entropy, [case.raw, *case.params.values()], allow_unused=True)
    if slope is None:
        assert expected is None
    else:
        torch.testing.assert_close(slope / BATCH, expected)
    assert all(torch.equal(other, torch.ones_like(other)) for other in others), "the update relies on it"
