import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from morl_blocks.critics import BranchedCritic
from morl_blocks.ppo import ExpectedReturn, initial_values, normalize, utility_weights
from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff, Linear, Scalarizer, SmoothTchebycheff
from morl_blocks.schedulers import Fixed
from tests.refusals import refused

DOUBLE = torch.float64
LOW, HIGH = torch.tensor([-3.0, 0.0, 40.0], dtype=DOUBLE), torch.tensor([5.0, 0.5, 340.0], dtype=DOUBLE)


def world(seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return logits of a policy over five arms and what the arms pay; J is exactly softmax(logits) @ arms."""
    generator = torch.Generator().manual_seed(seed)
    arms = LOW + (HIGH - LOW) * torch.rand(5, 3, generator=generator, dtype=DOUBLE)
    return torch.randn(5, generator=generator, dtype=DOUBLE), arms


@pytest.mark.parametrize(
    "scalarizer",
    [Linear(), SmoothTchebycheff(0.1), SmoothTchebycheff(3.0), AdaptiveSmoothTchebycheff(Fixed(0.5))],
    ids=lambda s: type(s).__name__,
)
@given(seed=st.integers(0, 30))
def test_weighted_gradients_are_the_gradient_of_the_utility(scalarizer: Scalarizer, seed: int) -> None:
    """sum_i c_i grad J_i equals autograd of U(J(theta); w), with J exact, to 1e-6."""
    scalarizer, (logits, arms) = scalarizer.double(), world(seed)
    weights = torch.rand(3, generator=torch.Generator().manual_seed(seed), dtype=DOUBLE).add(0.05)
    weights = weights / weights.sum()

    def expected(logits: Tensor) -> Tensor:
        return logits.softmax(-1) @ arms

    def asked(logits: Tensor) -> Tensor:
        result: Tensor = scalarizer(normalize(expected(logits), LOW, HIGH), weights)
        return result

    jacobian = torch.func.jacrev(expected)(logits)
    slope = utility_weights(scalarizer, normalize(expected(logits), LOW, HIGH), weights, HIGH - LOW)
    torch.testing.assert_close(slope @ jacobian, torch.func.grad(asked)(logits), atol=1e-6, rtol=1e-6)


def test_each_preference_has_its_own_expected_return() -> None:
    """No mean over the minibatch: a row equals the row alone."""
    critic, initial = BranchedCritic(4, 2), torch.randn(7, 4)
    preferences = torch.tensor([[0.0, 1.0], [0.3, 0.7], [1.0, 0.0]])
    with torch.no_grad():
        together = initial_values(critic, initial, preferences)
        for row, preference in zip(together, preferences, strict=True):
            torch.testing.assert_close(row, initial_values(critic, initial, preference))
            by_hand = torch.stack([critic(state, preference) for state in initial]).mean(0)
            torch.testing.assert_close(row, by_hand)


def test_running_average_looks_only_at_what_has_ended_and_its_state_survives() -> None:
    expected, fresh = ExpectedReturn(2, (2,), memory=0.5), ExpectedReturn(2, (2,), memory=0.5)
    assert not expected.known.any()
    returns = torch.tensor([[[1.0, 2.0], [3.0, 4.0]], [[torch.nan, torch.inf], [9.0, 9.0]]])
    expected.update(returns, torch.tensor([[True, True], [False, True]]))
    torch.testing.assert_close(expected.value, torch.tensor([[2.0, 3.0], [9.0, 9.0]]))
    fresh.load_state_dict(expected.state_dict())
    for one in (expected, fresh):
        one.update(torch.full((2, 1, 2), 8.0), torch.tensor([[True], [False]]))
        torch.testing.assert_close(one.value, torch.tensor([[5.0, 5.5], [9.0, 9.0]]))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5))
def test_with_full_memory_it_is_the_mean_of_all(sizes: list[int]) -> None:
    parts = [torch.rand(n, 3, dtype=DOUBLE) for n in sizes]
    expected = ExpectedReturn(3, memory=1.0).double()
    for part in parts:
        expected.update(part)
    torch.testing.assert_close(expected.value, torch.cat(parts).mean(0))


def test_bad_input_raises() -> None:
    critic, weights = BranchedCritic(4, 2), torch.tensor([0.5, 0.5])
    refused("`initial` must hold observations of initial", initial_values, critic, torch.zeros(0, 4), weights)
    with pytest.raises(ValueError, match="`critic` must have shape"):
        initial_values(lambda observation, preference: observation, torch.zeros(3, 4), weights)
    refused("`num_objectives` must be a whole number >= 2, got 1", ExpectedReturn, 1)
    refused(r"`memory` must lie in \[0, 1\], got 1.5", ExpectedReturn, 2, memory=1.5)
    refused("`returns` must hold an episode of every run", lambda: ExpectedReturn(2).value)
    refused("`returns` must have shape", ExpectedReturn(2).update, torch.zeros(4, 3))
    refused("`span` must be > 0, got 0", utility_weights, Linear(), weights, weights, torch.tensor([1.0, 0.0]))
    refused("`scalarizer` must be a Scalarizer", utility_weights, torch.sum, weights, weights)
    refused("`scalarizer` must be one to maximise", utility_weights, Linear(sense="min"), weights, weights)
