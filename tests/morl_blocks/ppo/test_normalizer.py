import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from morl_blocks.ppo import ReturnNormalizer, normalize, update_bounds
from tests.refusals import refused


def test_closed_form_and_a_range_of_zero_is_clamped() -> None:
    low, high = update_bounds(torch.tensor([0.0]), torch.tensor([1.0]), torch.tensor([[-1.0], [0.5], [3.0]]))
    assert (low.item(), high.item()) == (-1.0, 3.0)
    assert normalize(torch.tensor([1.0]), low, high).item() == 0.5
    bound = torch.tensor([5.0])
    assert normalize(torch.tensor([5.0]), bound, bound).item() == 0.0
    assert normalize(torch.tensor([6.0]), bound, bound).item() == pytest.approx(1e6)
    returns = torch.tensor([[-3e38], [0.0], [3e38]])  # do not overflow
    torch.testing.assert_close(ReturnNormalizer(1)(returns), torch.tensor([[0.0], [0.5], [1.0]]))


@given(st.lists(st.lists(st.floats(-1e6, 1e6, width=32), min_size=3, max_size=3), min_size=1, max_size=20))
def test_own_returns_lie_in_the_unit_interval_and_bounds_only_widen(rows: list[list[float]]) -> None:
    normalizer, returns = ReturnNormalizer(3), torch.tensor(rows)
    for chunk in returns.split(4):
        low, high = normalizer.low.clone(), normalizer.high.clone()
        normalized = normalizer(chunk)
        assert bool(((normalized >= 0) & (normalized <= 1)).all())
        assert bool((normalizer.low <= low).all())
        assert bool((normalizer.high >= high).all())
    assert torch.equal(normalizer.low, returns.amin(0))
    assert torch.equal(normalizer.high, returns.amax(0))


def test_runs_do_not_see_each_other_lifted_or_compiled() -> None:
    def both(low: torch.Tensor, high: torch.Tensor, returns: torch.Tensor) -> torch.Tensor:
        return normalize(returns, *update_bounds(low, high, returns))

    returns, together = torch.randn(3, 4, 5, 2), ReturnNormalizer(2, runs=(3,))
    lifted = torch.func.vmap(normalize)(returns, *update_bounds(together.low, together.high, returns))
    compiled = torch.compile(both, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(together.low, together.high, returns), lifted)
    normalized = together(returns)
    torch.testing.assert_close(lifted, normalized)
    for r in range(3):
        assert torch.equal(ReturnNormalizer(2)(returns[r]), normalized[r])


def test_the_state_is_saved_and_critic_values_do_not_move_the_bounds() -> None:
    normalizer, copy = ReturnNormalizer(1), ReturnNormalizer(1)
    normalizer(torch.tensor([[0.0], [2.0]]))
    assert normalizer.normalize(torch.tensor([[4.0]])).item() == 2.0
    assert normalizer.high.item() == 2.0
    copy.load_state_dict(normalizer.state_dict())
    assert copy.normalize(torch.tensor([[4.0]])).item() == 2.0


def test_bad_input() -> None:
    normalizer = ReturnNormalizer(2, runs=(3,))
    refused("`normalizer` must have seen returns before it normalises values", normalizer.normalize, torch.zeros(3, 2))
    refused("`returns` must have 2 objectives", normalizer, torch.zeros(3, 5, 3))
    refused("`returns` must have shape", normalizer, torch.zeros(4, 5, 2))
    refused("`returns` must have shape", normalizer, torch.zeros(2))
    refused("`returns` must be finite, got nan", normalizer, torch.full((3, 5, 2), torch.nan))
    assert bool(normalizer.low.isinf().all())  # the refused returns left no trace
    refused("`num_objectives` must be a whole number >= 1", ReturnNormalizer, 0)
    low, high = torch.zeros(3, 2), torch.ones(3, 2)
    refused(r"`returns` must have shape \[3, '...', 2\]", normalize, torch.zeros(4, 5, 2), low, high)
    refused(r"`high` must have shape \[2\]", update_bounds, low[0], torch.ones(1), torch.zeros(5, 2))
