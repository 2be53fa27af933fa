from collections.abc import Sequence
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from morl_blocks.combiners import Combiner, PCGrad, Sum, WeightedPCGrad, WeightedSum, conflict_ratio
from morl_blocks.ppo import combine_gradients, objective_jacobian
from tests.refusals import refused


class Square(torch.autograd.Function):
    """An operation that vmap cannot handle: it has no batching rule and branches on numbers."""

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x.square()

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *grads: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors  # type: ignore[attr-defined]
        out: Tensor = 2 * x * grads[0] if float(grads[0].sum()) < 1e30 else x
        return out


class TwoHeads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, 8), nn.Tanh())
        self.heads = nn.ModuleList([nn.Linear(8, 1), nn.Linear(8, 1)])
        self.frozen = nn.Linear(3, 3).requires_grad_(False)
        self.unused = nn.Linear(3, 3)

    def losses(self, x: Tensor) -> Tensor:
        features = self.trunk(x + self.frozen(x))
        return torch.stack([head(features).square().mean() for head in self.heads])


def loop(losses: Tensor, params: Sequence[Tensor]) -> Tensor:
    """The oracle: one ordinary backward pass per objective."""
    trained, rows = [p for p in params if p.requires_grad], []
    for loss in losses:
        grads = iter(torch.autograd.grad(loss, trained, retain_graph=True, materialize_grads=True))
        rows.append(torch.cat([next(grads).flatten() if p.requires_grad else 0 * p.flatten() for p in params]))
    return torch.stack(rows)


@pytest.fixture
def net() -> TwoHeads:
    torch.manual_seed(0)
    return TwoHeads()


def test_falls_back_to_a_loop_for_modules_that_vmap_cannot_handle() -> None:
    x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    squares = Square.apply(x)  # type: ignore[no-untyped-call]
    with pytest.raises(RuntimeError):
        torch.autograd.grad(squares, x, torch.eye(3), is_grads_batched=True, retain_graph=True)
    losses = torch.stack([squares.sum(), squares[0] - squares[1], x.prod()])
    expected = torch.tensor([[2.0, -4.0, 6.0], [2.0, 4.0, 0.0], [-6.0, 3.0, -2.0]])
    torch.testing.assert_close(objective_jacobian(losses, [x]), expected)


@pytest.mark.parametrize("combiner", [Sum(), WeightedSum(), PCGrad(), WeightedPCGrad()])
@pytest.mark.parametrize("eta", [[0.8, 0.2], [1.0]], ids=["two losses", "one loss"])
@pytest.mark.parametrize("low_memory", [False, True])
def test_equals_one_pass_per_objective_and_the_explicit_update(
    net: TwoHeads, combiner: Combiner, eta: list[float], low_memory: bool
) -> None:
    params, losses = list(net.parameters()), net.losses(torch.randn(16, 3))[: len(eta)]
    jacobian, attention = loop(losses, params), torch.tensor(eta)
    torch.testing.assert_close(objective_jacobian(losses, params), jacobian)
    generator = torch.Generator().manual_seed(2)
    conflict, weights = combine_gradients(losses, params, combiner, attention, generator, low_memory=low_memory)
    assert conflict == (conflict_ratio(jacobian @ jacobian.T) if len(eta) > 1 else 0)
    expected = combiner(jacobian, attention, torch.Generator().manual_seed(2)) if len(eta) > 1 else jacobian[0]
    torch.testing.assert_close(weights @ jacobian, expected)
    written = torch.cat([torch.zeros(p.numel()) if p.grad is None else p.grad.flatten() for p in params])
    torch.testing.assert_close(written, expected)


def test_leaves_frozen_and_unused_parameters_and_the_graph_of_the_attention_alone(net: TwoHeads) -> None:
    marker, losses = torch.ones(3, 3), net.losses(torch.randn(16, 3))
    net.unused.weight.grad = marker.clone()
    combined = combine_gradients(losses, net.parameters(), WeightedPCGrad(), losses.softmax(-1))
    assert net.frozen.weight.grad is None
    assert net.unused.bias.grad is None
    torch.testing.assert_close(net.unused.weight.grad, marker)
    assert not combined.weights.requires_grad
    assert not any(p.grad.requires_grad for p in net.parameters() if p.grad is not None)


def test_a_gradient_that_is_there_is_never_lost(net: TwoHeads) -> None:
    def grads() -> list[Tensor]:
        return [p.grad.clone() for p in net.trunk.parameters() if p.grad is not None]

    x = torch.randn(16, 3)
    net.trunk(x).square().mean().backward()  # a value loss of the shared trunk
    value = grads()
    refused("`params` must have no gradient yet: call", combine_gradients, net.losses(x), net.parameters(), Sum())
    combine_gradients(net.losses(x), net.parameters(), Sum(), accumulate=True)
    both = grads()
    net.zero_grad(set_to_none=False)  # zeros are no gradient
    combine_gradients(net.losses(x), net.parameters(), Sum())
    torch.testing.assert_close(both, [before + own for before, own in zip(value, grads(), strict=True)])
    net.zero_grad()
    first = next(net.parameters())
    first.grad = torch.zeros_like(first).index_fill_(0, torch.tensor(0), 1.0)  # one row is enough
    refused("`params` must have no gradient yet", combine_gradients, net.losses(x), net.parameters(), Sum())


def test_mixed_precision_keeps_the_dtype_of_each_parameter() -> None:
    coarse, fine = torch.ones(2, dtype=torch.bfloat16, requires_grad=True), torch.ones(2, requires_grad=True)
    losses = [(coarse * 2).sum(), fine.sum() - coarse.sum().float()]
    combined = combine_gradients(losses, [coarse, fine], Sum())
    assert combined.conflict == 1
    assert (coarse.grad is not None and coarse.grad.dtype) == torch.bfloat16
    torch.testing.assert_close(fine.grad, torch.ones(2))


@pytest.mark.parametrize("low_memory", [False, True])
def test_bad_input(low_memory: bool) -> None:
    x = torch.ones(2, requires_grad=True)
    pair, combine = [x[0], x[1]], partial(combine_gradients, low_memory=low_memory)
    refused(r"`losses` must hold one number per objective, got a loss of shape \[2\]", objective_jacobian, [x, x], [x])
    refused(r"`losses` must be a vector \[m\] or a sequence of m scalars .*", objective_jacobian, x.sum(), [x])
    refused("`losses` must depend on a parameter that requires a gradient", objective_jacobian, torch.ones(2), [x])
    refused("`losses` must be finite, got nan", combine, [x.sum(), x.sum() * float("nan")], [x], Sum())
    refused("`losses` must have at least 1 objectives", combine, x[:0], [x], Sum())
    refused("`losses` must hold at least one loss", combine, [], [x], Sum())
    refused("`attention` must be given to WeightedPCGrad", combine, pair, [x], WeightedPCGrad())
    refused(r"`losses` must be a vector .* \(one run; loop over several\)", combine, x.expand(3, 2), [x], Sum())
    steep = [(x - 1).norm(), x.sqrt().sum() + (x[0] - 1).sqrt()]
    refused("`losses` must have finite gradients, got", combine, steep, [x], Sum())
    refused("`params` must hold tensors, got str", combine, pair, "x", Sum())
    other = [torch.ones(2, requires_grad=True) for _ in range(3)]  # the parameters of another model
    refused("`params` must hold a parameter that a loss depends on, got 3", combine, pair, other, Sum())
    assert x.grad is None


def test_mixed_precision_rounds_the_network_and_not_the_combination(net: TwoHeads) -> None:
    x = torch.randn(32, 3)
    with torch.autocast("cpu", torch.bfloat16):
        losses = net.losses(x).float()
    outside = combine_gradients(losses, net.parameters(), PCGrad(seed=0))
    expected = [p.grad for p in net.parameters() if p.grad is not None]
    net.zero_grad()
    with torch.autocast("cpu", torch.bfloat16):
        inside = combine_gradients(losses, net.parameters(), PCGrad(seed=0))
    assert torch.equal(inside.weights, outside.weights)
    found = [p.grad for p in net.parameters() if p.grad is not None]
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    full = objective_jacobian(net.losses(x), net.parameters())
    assert (objective_jacobian(losses, net.parameters()) - full).norm() < 0.05 * full.norm()
