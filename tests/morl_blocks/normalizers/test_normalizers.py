import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from morl_blocks.normalizers import InitialValue, LogRatio, Normalizer, RunningRange, Standardize, WarmUp, ranged
from morl_blocks.scalarizers import SmoothTchebycheff
from tests.refusals import refused

MAKERS: dict[str, Callable[..., Normalizer]] = {
    "InitialValue": InitialValue,
    "WarmUp": lambda runs=(): WarmUp(3, runs),
    "RunningRange": RunningRange,
    "Standardize": Standardize,
    "LogRatio": LogRatio,
}
every = pytest.mark.parametrize("name", MAKERS)
matrices = st.lists(st.floats(0.1, 10), min_size=12, max_size=12).map(
    lambda numbers: torch.tensor(numbers, dtype=torch.float64).reshape(4, 3)
)
scales = st.lists(st.floats(-12, 12), min_size=3, max_size=3).map(lambda x: 10 ** torch.tensor(x, dtype=torch.float64))


def after(name: str, rows: Tensor) -> Normalizer:
    normalizer = MAKERS[name]()
    for row in rows:
        normalizer.update(row)
    return normalizer


@every
@given(rows=matrices, query=matrices, scale=scales)
def test_rescaling_an_objective_changes_nothing_and_the_sense_stays(
    name: str, rows: Tensor, query: Tensor, scale: Tensor
) -> None:
    normalizer = after(name, rows)
    torch.testing.assert_close(after(name, rows * scale)(query * scale), normalizer(query), rtol=1e-6, atol=1e-6)
    line = torch.linspace(0.1, 20, 30, dtype=torch.float64).unsqueeze(-1).expand(30, 3)
    assert (normalizer(line).diff(dim=0) > 0).all()


def test_closed_forms() -> None:
    rows = torch.tensor([[1.0, 10.0], [3.0, 30.0], [2.0, 50.0], [100.0, 100.0]])
    query = torch.tensor([4.0, 20.0])
    expected = {
        "InitialValue": [4.0, 2.0],
        "WarmUp": [2.0, 20 / 30],
        "RunningRange": [3 / 99, 10 / 90],
        "LogRatio": [math.log(4), math.log(2)],
        "Standardize": ((query - rows.mean(0)) / rows.std(0, correction=0)).tolist(),
    }
    for name in MAKERS:
        torch.testing.assert_close(after(name, rows)(query), torch.tensor(expected[name]))
    for name in ("RunningRange", "Standardize"):  # an objective that has not varied is measured by its size
        normalizer = after(name, torch.tensor([[5.0, -2.0, 0.0]]))
        torch.testing.assert_close(normalizer(torch.tensor([6.0, -1.0, 1.0])), torch.tensor([0.2, 0.5, 1.0]))
    far = 1e6 + torch.randn(50, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    moments = Standardize()
    for part in far.split([1, 7, 2, 40]):
        moments.update(part)
    torch.testing.assert_close(moments(far), (far - far.mean(0)) / far.std(0, correction=0))
    assert (repr(WarmUp(5, runs=(4,))), repr(Standardize())) == ("WarmUp(count=5, runs=(4,))", "Standardize()")


@every
def test_runs_do_not_see_each_other_and_samples_of_one_update_count_alike(name: str) -> None:
    values = torch.rand(2, 6, 3, generator=torch.Generator().manual_seed(0)) + 0.5
    together, alone = MAKERS[name](runs=(2,)), MAKERS[name]()
    for step in range(6):
        together.update(values[:, step])
        alone.update(values[1, step])
    torch.testing.assert_close(together(values)[1], alone(values[1]))
    torch.testing.assert_close(together(values[:, 0])[1], alone(values[1, 0]))
    one, other = MAKERS[name](), MAKERS[name]()
    one.update(values)
    other.update(values.flatten(0, 1))
    torch.testing.assert_close(one(values), other(values))
    assert one(values).shape == values.shape


@every
def test_the_state_is_saved_with_its_shape(name: str) -> None:
    normalizer = after(name, torch.rand(5, 3) + 0.5)
    fresh = MAKERS[name]()
    with pytest.raises(RuntimeError, match="Missing key"):
        fresh.load_state_dict({})
    fresh.load_state_dict(normalizer.state_dict())
    query = torch.rand(3) + 0.5
    assert torch.equal(fresh(query), normalizer(query))
    fresh.update(query)
    normalizer.update(query)
    assert torch.equal(fresh(query), normalizer(query))


@every
def test_gradients_flow_and_a_call_changes_nothing(name: str) -> None:
    normalizer = after(name, torch.rand(5, 3, requires_grad=True) + 0.5)
    state = {key: value.clone() for key, value in normalizer.state_dict().items()}
    losses = (torch.rand(3) + 0.5).requires_grad_()
    loss = SmoothTchebycheff(0.1, utopia=-3.0, sense="min")(normalizer(losses), torch.full((3,), 1 / 3))
    loss.backward()
    assert losses.grad is not None
    assert (losses.grad > 0).all()
    assert not any(buffer.requires_grad for buffer in normalizer.buffers())
    assert all(torch.equal(value, normalizer.state_dict()[key]) for key, value in state.items())


@every
def test_answers_in_the_dtype_given(name: str) -> None:
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        values = (torch.rand(5, 3) + 0.5).to(dtype)
        normalizer = MAKERS[name]()
        normalizer.update(values)
        assert normalizer(values).dtype == dtype
    moved = after(name, torch.rand(4, 3) + 0.5).to(torch.float32)
    moved.update(torch.rand(3, dtype=torch.float64) + 0.5)
    assert moved(torch.ones(3)).dtype == torch.float32


@every
def test_bad_input(name: str) -> None:
    refused("must be updated before it normalises", MAKERS[name](), torch.ones(3))
    normalizer = after(name, torch.ones(1, 3))
    refused("`values` must have 3 objectives in its last dimension", normalizer, torch.ones(2))
    refused("`values` must hold at least one vector", normalizer.update, torch.ones(0, 3))
    refused(r"`values` must have shape \[2, '...', 'm'\], got shape", MAKERS[name](runs=(2,)).update, torch.ones(3, 4))


def test_what_only_some_refuse() -> None:
    for name in ("InitialValue", "WarmUp"):
        refused("`values` must differ from 0 at the first update", after, name, torch.tensor([[1.0, 0.0]]))
    refused("`values` must be > 0, got -1.0", after, "LogRatio", torch.tensor([[1.0, -1.0]]))
    refused("`values` must be > 0, got 0.0", after("LogRatio", torch.tensor([[1.0, 1.0]])), torch.zeros(2))
    refused("`count` must be a whole number >= 1, got 0", WarmUp, 0)
    refused("`low` must broadcast", ranged, torch.ones(2), torch.ones(3), torch.ones(2))
