import torch

from morl_blocks import ppo
from morl_blocks.scalarizers import Linear, SmoothTchebycheff
from tests.refusals import refused

T, M = 64, 3
WEIGHTS = torch.tensor([0.5, 0.3, 0.2])


def estimate(seed: int = 0) -> ppo.Estimate:
    """Return an estimate with raw scales that differ, whose normalised numbers are the raw ones over the span."""
    generator = torch.Generator().manual_seed(seed)
    span = torch.tensor([1.0, 20.0, 300.0])
    returns, value = (span * torch.rand(T, M, generator=generator) for _ in range(2))
    expected = torch.tensor([0.2, 0.7, 0.4]).expand(T, M)
    return ppo.Estimate(returns - value, returns, value, returns / span, value / span, expected, span)


def test_linear_utility_agrees_with_the_scalarised_advantage() -> None:
    own, weights = estimate(), WEIGHTS.expand(T, M)
    found = ppo.ExpectationAdvantage()(own, Linear(), weights)
    torch.testing.assert_close(found, ppo.ScalarisedAdvantage()(own, Linear(), weights))
    nothing = own._replace(advantage=torch.zeros(T, M))
    assert not ppo.VectorExpectationAdvantage()(nothing, Linear(), weights).any()
    for form in (ppo.ExpectationAdvantage(), ppo.VectorExpectationAdvantage()):
        refused("`estimate` must hold the expected return", form, own._replace(expected=None), Linear(), weights)


def test_closed_form() -> None:
    own, scalarizer = estimate(), SmoothTchebycheff(0.1)
    assert own.expected is not None
    assert own.span is not None
    slope = WEIGHTS * scalarizer.attention(own.expected[0], WEIGHTS) / own.span
    found = ppo.ExpectationAdvantage()(own, scalarizer, WEIGHTS.expand(T, M))
    assert found.shape == (T, 1)
    torch.testing.assert_close(found, ppo.vector_advantage((slope * own.advantage).sum(-1, keepdim=True)))
    runs = ppo.expectation_advantage(own.advantage.expand(2, T, M), slope)
    torch.testing.assert_close(runs, found.squeeze(-1).expand(2, T))


def test_each_step_is_weighed_at_the_expectation_of_its_own_preference() -> None:
    own, scalarizer = estimate(), SmoothTchebycheff(0.1)
    assert own.expected is not None
    assert own.span is not None
    preferences = torch.distributions.Dirichlet(torch.ones(M)).sample((T,))
    expected = torch.rand(T, M)
    rows = [ppo.utility_weights(scalarizer, j, w, own.span) for j, w in zip(expected, preferences, strict=True)]
    found = ppo.ExpectationAdvantage()(own._replace(expected=expected), scalarizer, preferences)
    torch.testing.assert_close(found.squeeze(-1), ppo.expectation_advantage(own.advantage, torch.stack(rows)))


def test_parts_of_the_vector_form_sum_to_the_advantage() -> None:
    arguments = estimate(), SmoothTchebycheff(0.1), WEIGHTS.expand(T, M)
    parts = ppo.VectorExpectationAdvantage()(*arguments)
    whole = ppo.ExpectationAdvantage()(*arguments).squeeze(-1)
    torch.testing.assert_close(parts.sum(-1), whole, atol=1e-5, rtol=1e-5)
