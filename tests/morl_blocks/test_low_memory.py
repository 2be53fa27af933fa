"""``combine_gradients(low_memory=True)``: the same result from two gradients at a time; and large parameters."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

from morl_blocks import _backward, combine_gradients, objective_jacobian
from morl_blocks.combiners import PCGrad, Sum
from tests.refusals import refused


def parts(m: int, dtype: torch.dtype = torch.float32) -> tuple[nn.ModuleList, Tensor]:
    """A trunk, m heads that only one loss uses, and a parameter that none uses."""
    torch.manual_seed(m)
    trunk, heads, unused = nn.Linear(6, 20), nn.ModuleList([nn.Linear(20, 1) for _ in range(m)]), nn.Linear(2, 2)
    net = nn.ModuleList([trunk, heads, unused]).to(dtype)
    features = trunk(torch.randn(10, 6, dtype=dtype)).tanh()
    losses = torch.stack([(head(features) - torch.randn(10, 1, dtype=dtype)).square().mean() for head in heads])
    return net, losses


def grads(net: nn.Module) -> list[Tensor]:
    return [p.grad.clone() for p in net.parameters() if p.grad is not None]


@pytest.mark.parametrize("m", [1, 2, 3, 6])
def test_gramian_by_pairs_takes_each_pair_once(m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    net, losses = parts(m)
    params: list[Tensor] = list(net.parameters())
    single, passes = _backward.gradients_of, 0

    def counted(*args: Any) -> tuple[Tensor | None, ...]:
        nonlocal passes
        passes += 1
        return single(*args)

    monkeypatch.setattr(_backward, "gradients_of", counted)
    gramian = _backward.gramian_by_pairs(losses, params)
    jacobian = objective_jacobian(losses, params).double()
    torch.testing.assert_close(gramian, jacobian @ jacobian.mT)
    assert passes == 1 + m * (m - 1) // 2


def most_alive(call: Callable[[], object], size: int) -> float:
    """Return the largest number of float32 tensors of ``size`` numbers that were alive at once during a call."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        call()
    events = profiler.profiler.kineto_results.events()
    changes = sorted((event.start_ns(), event.nbytes()) for event in events if event.name() == "[memory]")
    alive = torch.tensor([bytes_ for _, bytes_ in changes if abs(bytes_) >= 4 * size]).cumsum(0)
    return float(alive.max()) / (4 * size)


def test_at_most_two_gradients_of_the_parameters_size_are_alive() -> None:
    size = 200_000
    x = torch.randn(size, requires_grad=True)
    losses = torch.stack([x.sum() * (i + 1) for i in range(5)])

    def call(*, low_memory: bool) -> None:
        x.grad = None
        combine_gradients(losses, [x], PCGrad(), low_memory=low_memory)

    assert most_alive(lambda: call(low_memory=False), size) >= 5
    assert most_alive(lambda: call(low_memory=True), size) <= 2


def test_tiny_and_huge_gradients_keep_their_digits() -> None:
    for scale in (1e-22, 1e22):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        combine_gradients([scale * x[0], scale * (x[1] - x[0])], [x], PCGrad(), low_memory=True)
        torch.testing.assert_close(x.grad, scale * torch.tensor([0.5, 1.5]))


def test_large_parameters_stay_where_they_are_and_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for large in (1, 50, 10**9):
        monkeypatch.setattr(_backward, "LARGE", large)
        net, losses = parts(3)
        combined = combine_gradients(losses, net.parameters(), PCGrad(seed=0))
        results.append([*combined, *grads(net)])
    torch.testing.assert_close(results[0], results[1])
    torch.testing.assert_close(results[0], results[2])


def test_other_dtypes_and_accumulation() -> None:
    net, losses = parts(3, torch.float64)
    combined = combine_gradients(losses, net.parameters(), Sum(), low_memory=True)
    once = grads(net)
    assert combined.weights.dtype == torch.float64
    combine_gradients(losses, net.parameters(), Sum(), accumulate=True, low_memory=True)
    torch.testing.assert_close(grads(net), [2 * gradient for gradient in once])
    refused("`params` must have no gradient yet", combine_gradients, losses, net.parameters(), Sum(), low_memory=True)


def test_a_combiner_that_needs_all_gradients_is_refused() -> None:
    class Needy(Sum):
        def merge(self, *args, **kwargs):  # type: ignore[no-untyped-def]
            return super().merge(*args, **kwargs)

    x = torch.ones(2, requires_grad=True)
    refused("`low_memory` must be False for Needy", combine_gradients, [x[0], x[1]], [x], Needy(), low_memory=True)
    combine_gradients([x[0], x[1]], [x], Needy())
    assert x.grad is not None
