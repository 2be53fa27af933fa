from collections.abc import Sequence

import pytest
import torch
from torch import Tensor, nn

from morl_blocks.combiners import Combiner, PCGrad, Sum, WeightedPCGrad, conflict_ratio
from morl_blocks.ppo import combine_gradients, objective_jacobian
from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff
from morl_blocks.schedulers import ConflictBraked
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
    rows = []
    for loss in losses:
        grads = torch.autograd.grad(loss, [p for p in params if p.requires_grad], retain_graph=True, allow_unused=True)
        left = iter(grads)
        pieces = [next(left) if p.requires_grad else None for p in params]
        rows.append(
            torch.cat(
                [torch.zeros(p.numel()) if g is None else g.flatten() for g, p in zip(pieces, params, strict=True)]
            )
        )
    return torch.stack(rows)


@pytest.fixture
def net() -> TwoHeads:
    torch.manual_seed(0)
    return TwoHeads()


def test_equals_one_pass_per_objective(net: TwoHeads) -> None:
    params, losses = list(net.parameters()), net.losses(torch.randn(16, 3))
    torch.testing.assert_close(objective_jacobian(losses, params), loop(losses, params))


def test_falls_back_to_a_loop_for_modules_that_vmap_cannot_handle() -> None:
    x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    squares = Square.apply(x)  # type: ignore[no-untyped-call]
    with pytest.raises(RuntimeError):
        torch.autograd.grad(squares, x, torch.eye(3), is_grads_batched=True, retain_graph=True)
    losses = torch.stack([squares.sum(), squares[0] - squares[1], x.prod()])
    expected = torch.tensor([[2.0, -4.0, 6.0], [2.0, 4.0, 0.0], [-6.0, 3.0, -2.0]])
    torch.testing.assert_close(objective_jacobian(losses, [x]), expected)


def test_writes_grad_like_the_explicit_update(net: TwoHeads) -> None:
    params, losses = list(net.parameters()), net.losses(torch.randn(16, 3))
    jacobian = loop(losses, params)
    conflict, weights = combine_gradients(losses, params, PCGrad())
    torch.testing.assert_close(conflict, conflict_ratio(jacobian @ jacobian.T))
    expected = weights @ jacobian
    written = torch.cat([torch.zeros(p.numel()) if p.grad is None else p.grad.flatten() for p in params])
    torch.testing.assert_close(written, expected)


def test_leaves_frozen_and_unused_parameters_alone(net: TwoHeads) -> None:
    marker = torch.ones(3, 3)
    net.unused.weight.grad = marker.clone()
    combine_gradients(net.losses(torch.randn(16, 3)), net.parameters(), Sum())
    assert net.frozen.weight.grad is None
    assert net.unused.bias.grad is None
    torch.testing.assert_close(net.unused.weight.grad, marker)


def test_sum_equals_ordinary_backward_and_a_further_term_can_follow(net: TwoHeads) -> None:
    x = torch.randn(16, 3)
    losses = net.losses(x)
    combine_gradients(losses, net.parameters(), Sum())
    (0.1 * losses.sum()).backward()
    written = [p.grad.clone() for p in net.trunk.parameters() if p.grad is not None]
    net.zero_grad()
    (1.1 * net.losses(x).sum()).backward()
    for got, p in zip(written, net.trunk.parameters(), strict=True):
        torch.testing.assert_close(got, p.grad)


def test_works_with_any_optimiser(net: TwoHeads) -> None:
    x = torch.randn(16, 3)
    for optimiser in (torch.optim.Adam(net.parameters(), 1e-2), torch.optim.SGD(net.parameters(), 1e-2, momentum=0.9)):
        before = net.losses(x).detach()
        for _ in range(20):
            optimiser.zero_grad()
            combine_gradients(net.losses(x), net.parameters(), PCGrad())
            optimiser.step()
        assert (net.losses(x) < before).all()


def test_generator_and_attention_reach_the_combiner() -> None:
    x = torch.randn(6, generator=torch.Generator().manual_seed(0)).requires_grad_()
    matrix = torch.randn(4, 6, generator=torch.Generator().manual_seed(1))
    eta = torch.tensor([0.7, 0.1, 0.1, 0.1])
    combine_gradients(matrix @ x, [x], WeightedPCGrad(), eta, torch.Generator().manual_seed(2))
    expected = WeightedPCGrad()(matrix, eta, torch.Generator().manual_seed(2))
    torch.testing.assert_close(x.grad, expected)


def test_multi_task_regression_with_adaptive_attention(net: TwoHeads) -> None:
    """The whole chain outside RL: two tasks, ASTCH attention, weighted PCGrad, conflict back into the scheduler."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(64, 3, generator=generator)
    targets = torch.stack([x.sum(-1), x[:, 0] * x[:, 1]], -1)
    model = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
    scalarizer = AdaptiveSmoothTchebycheff(ConflictBraked(), sense="min")
    optimiser, conflict = torch.optim.Adam(model.parameters(), 1e-2), torch.tensor(0.0)
    first = (model(x) - targets).square().mean(0).detach()
    for step in range(150):
        losses = (model(x) - targets).square().mean(0)
        scalarizer.step(step / 150, conflict)
        attention = scalarizer.attention(losses.detach() / first, torch.tensor([0.5, 0.5]))
        optimiser.zero_grad()
        conflict, _ = combine_gradients(losses, model.parameters(), WeightedPCGrad(), attention, generator)
        optimiser.step()
    assert (losses < 0.5 * first).all()


@pytest.mark.parametrize("combiner", [Sum(), PCGrad(), WeightedPCGrad()])
def test_a_single_loss_has_its_own_gradient(combiner: Combiner) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    combined = combine_gradients([x.prod()], [x], combiner, attention=torch.ones(1))
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 1.0]
    assert combined.conflict == 0
    assert combined.weights.tolist() == [1.0]


def test_a_gradient_that_is_there_is_never_lost(net: TwoHeads) -> None:
    x = torch.randn(16, 3)
    net.trunk(x).square().mean().backward()  # a value loss of the shared trunk
    value = [p.grad.clone() for p in net.trunk.parameters() if p.grad is not None]
    refused("`params` must have no gradient yet: call", combine_gradients, net.losses(x), net.parameters(), Sum())
    combine_gradients(net.losses(x), net.parameters(), Sum(), accumulate=True)
    both = [p.grad.clone() for p in net.trunk.parameters() if p.grad is not None]
    net.zero_grad(set_to_none=False)  # zeros are no gradient
    combine_gradients(net.losses(x), net.parameters(), Sum())
    for before, after, p in zip(value, both, net.trunk.parameters(), strict=True):
        assert p.grad is not None
        torch.testing.assert_close(after, before + p.grad)
    for parameter in net.parameters():  # zeros but for one number
        parameter.grad = torch.zeros_like(parameter).index_fill_(0, torch.tensor(0), 1.0)
    refused("`params` must have no gradient yet", combine_gradients, net.losses(x), net.parameters(), Sum())


def test_no_graph_stays_in_the_gradient_when_the_attention_has_one(net: TwoHeads) -> None:
    losses = net.losses(torch.randn(16, 3))
    combined = combine_gradients(losses, net.parameters(), WeightedPCGrad(), losses.softmax(-1))
    assert not combined.weights.requires_grad
    assert not any(p.grad.requires_grad for p in net.parameters() if p.grad is not None)


def test_mixed_precision_keeps_the_dtype_of_each_parameter() -> None:
    coarse, fine = torch.ones(2, dtype=torch.bfloat16, requires_grad=True), torch.ones(2, requires_grad=True)
    losses = [(coarse * 2).sum(), fine.sum() - coarse.sum().float()]
    combined = combine_gradients(losses, [coarse, fine], Sum())
    assert combined.conflict == 1
    assert (coarse.grad is not None and coarse.grad.dtype) == torch.bfloat16
    torch.testing.assert_close(fine.grad, torch.ones(2))


def test_bad_input() -> None:
    x = torch.ones(2, requires_grad=True)
    refused(r"`losses` must hold one number per objective, got a loss of shape \[2\]", objective_jacobian, [x, x], [x])
    refused(r"`losses` must be a vector \[m\] or a sequence of m scalars .*", objective_jacobian, x.sum(), [x])
    refused("`losses` must depend on a parameter that requires a gradient", objective_jacobian, torch.ones(2), [x])
    refused("`losses` must be finite, got nan", combine_gradients, [x.sum(), x.sum() * float("nan")], [x], Sum())
    refused("`losses` must have at least 1 objectives", combine_gradients, x[:0], [x], Sum())
    refused("`attention` must be given to WeightedPCGrad", combine_gradients, [x[0], x[1]], [x], WeightedPCGrad())
    refused(r"`losses` must be a vector .* \(one run; loop over", combine_gradients, x.expand(3, 2), [x], Sum())
    with pytest.raises(ValueError, match="`losses` must have finite gradients, got"):
        combine_gradients([(x - 1).norm(), x.sqrt().sum() + (x[0] - 1).sqrt()], [x], Sum())
    refused("`params` must hold tensors, got str", combine_gradients, [x[0], x[1]], "x", Sum())
    refused("`losses` must hold at least one loss", combine_gradients, [], [x], Sum())
    other = [torch.ones(2, requires_grad=True) for _ in range(3)]  # the parameters of another model
    refused("`params` must hold a parameter that a loss depends on", combine_gradients, [x[0], x[1]], other, Sum())
    assert x.grad is None


def test_mixed_precision_rounds_the_network_and_not_the_combination(net: TwoHeads) -> None:
    x = torch.randn(32, 3)
    with torch.autocast("cpu", torch.bfloat16):
        losses = net.losses(x).float()
    outside = combine_gradients(losses, net.parameters(), PCGrad(seed=0))
    expected = [p.grad for p in net.parameters()]
    net.zero_grad()
    with torch.autocast("cpu", torch.bfloat16):
        inside = combine_gradients(losses, net.parameters(), PCGrad(seed=0))
    assert torch.equal(inside.weights, outside.weights)
    for param, gradient in zip(net.parameters(), expected, strict=True):
        if gradient is None:
            assert param.grad is None
        else:
            torch.testing.assert_close(param.grad, gradient, rtol=0, atol=0)
    full = objective_jacobian(net.losses(x), net.parameters())
    assert (objective_jacobian(losses, net.parameters()) - full).norm() < 0.05 * full.norm()
