"""The update against a plain single-run PASTA: autograd, one backward pass per objective, torch.optim.Adam."""

import pytest
import torch
from torch import Tensor, nn

from morl_blocks.combiners import PCGrad, WeightedPCGrad, conflict_ratio, pcgrad_projections
from morl_blocks.critics import AttentionWeightedCritic, BranchedCritic, SharedCritic
from morl_blocks.ppo import (
    CategoricalActor,
    UnitBoxGaussianActor,
    categorical_entropy,
    categorical_log_prob,
    clipped_objectives,
    gaussian_entropy,
    gaussian_log_prob,
    objective_jacobian,
)
from morl_recipes import specs
from morl_recipes.learning.heads import CategoricalHead, GaussianHead, Head
from morl_recipes.learning.layout import initial
from morl_recipes.learning.networks import Actor, stacked_critic
from morl_recipes.learning.update import (
    Columns,
    Numbers,
    Trainable,
    Update,
    layer_gradients,
    layer_kernel,
    objective_gramian,
)

RUNS, SIZE, N, M, A, HIDDEN = 2, 64, 4, 3, 2, 8
CLIP, VALUE, ENTROPY, LIMIT, RATE = (0.2, 0.1), (0.5, 1.0), (0.01, 0.1), (0.5, 0.05), (3e-4, 1e-2)


class PlainRun:
    """One run as a textbook would write it."""

    def __init__(self, run: int, actor: nn.Module, critic: nn.Module, combiner: str, weighted: bool) -> None:
        self.run, self.actor, self.critic, self.combiner, self.weighted = run, actor, critic, combiner, weighted
        self.optimisers = [torch.optim.Adam(net.parameters(), lr=RATE[run]) for net in (actor, critic)]

    def step(self, data: dict[str, Tensor], order: Tensor) -> float:
        x, w = data["inputs"][:, :N], data["inputs"][:, N:]
        output = self.actor(x, w)
        if isinstance(output, tuple):
            log_prob = gaussian_log_prob(data["action"], *output)
            entropy = gaussian_entropy(output[1]).mean()
        else:
            log_prob = categorical_log_prob(data["action"].squeeze(-1).long(), output)
            entropy = categorical_entropy(output).mean()
        losses = clipped_objectives(log_prob, data["log_prob"].squeeze(-1), data["advantage"], CLIP[self.run])
        params = list(self.actor.parameters())
        jacobian = objective_jacobian(losses, params)
        gramian = jacobian @ jacobian.T
        eta = data["attention"].mean(0)
        scale = {"PCGrad": torch.ones(M), "WeightedPCGrad": M * eta}.get(self.combiner)
        if data["advantage"].shape[-1] == 1:
            update = jacobian[0]
        elif scale is None:
            update = jacobian.sum(0) if self.combiner == "Sum" else (M * eta) @ jacobian
        else:
            update = (scale[:, None] * (pcgrad_projections(gramian, order) @ jacobian)).sum(0)
        bonus = torch.autograd.grad(-ENTROPY[self.run] * entropy, params, allow_unused=True)
        pieces = update.split([p.numel() for p in params])
        for param, piece, own in zip(params, pieces, bonus, strict=True):
            param.grad = piece.view_as(param) + (0 if own is None else own)
        errors = (self.critic(x, w) - data["target"]).square()
        weight = data["attention"] if self.weighted else 1 / M
        loss = (weight * errors).sum(-1).mean()
        self.value_loss = float(loss.detach())
        self.critic.zero_grad()
        (VALUE[self.run] * loss).backward()
        for net, optimiser in zip((self.actor, self.critic), self.optimisers, strict=True):
            nn.utils.clip_grad_norm_(net.parameters(), LIMIT[self.run])
            optimiser.step()
        return 0.0 if len(losses) == 1 else float(conflict_ratio(gramian))


def _flat(module: nn.Module) -> Tensor:
    return torch.cat([p.detach().flatten() for p in module.parameters()])


def _trainable(flat: Tensor) -> Trainable:
    return Trainable(flat.clone(), torch.zeros_like(flat), torch.zeros_like(flat))


@pytest.mark.parametrize("batch_size", [4, 48])  # the kernel of a small one, the gradients of a large one
@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize(
    ("combiner", "weighted", "critic", "scalarised"),
    [
        ("PCGrad", True, BranchedCritic, False),
        ("WeightedPCGrad", False, SharedCritic, False),
        ("Sum", True, SharedCritic, False),
        ("WeightedSum", False, BranchedCritic, False),
        ("PCGrad", False, BranchedCritic, True),
    ],
)
def test_update_equals_plain_pasta(
    combiner: str, weighted: bool, critic: type[nn.Module], scalarised: bool, discrete: bool, batch_size: int
) -> None:
    torch.manual_seed(0)
    actors: list[nn.Module] = []
    critics: list[nn.Module] = []

    def make_actor() -> nn.Module:
        kind = CategoricalActor if discrete else UnitBoxGaussianActor
        actors.append(kind(N, M, A, HIDDEN))
        return actors[-1]

    def make_critic() -> nn.Module:
        critics.append(critic(N, M, hidden=HIDDEN))
        return critics[-1]

    template, flat_actor = initial(make_actor, [1, 2])
    critic_template, flat_critic = initial(make_critic, [3, 4])
    q = 1 if scalarised else M
    columns = Columns(N + M, 1 if discrete else A, 1, q, M, M)
    action = torch.randint(A, (RUNS, SIZE, 1)).float() if discrete else torch.rand(RUNS, SIZE, A)
    old = -torch.rand(RUNS, SIZE, 1)
    target, attention = torch.randn(RUNS, SIZE, M), torch.rand(RUNS, SIZE, M).softmax(-1)
    pieces = [torch.randn(RUNS, SIZE, N + M), action, old, torch.randn(RUNS, SIZE, q), target, attention]
    data = torch.cat(pieces, dim=-1)
    head: Head = CategoricalHead(A) if discrete else GaussianHead(torch.zeros(A), torch.ones(A))
    weights = getattr(specs, combiner)().weigh()
    update = Update(
        Actor(template),  # type: ignore[arg-type]
        head,
        stacked_critic(AttentionWeightedCritic(critic_template), M),
        weights,
        columns,
        weighted_critic=weighted,
    )
    numbers = Numbers(*(torch.tensor(values) for values in (CLIP, VALUE, ENTROPY, LIMIT)))
    actor_state, critic_state, record = _trainable(flat_actor), _trainable(flat_critic), torch.zeros(RUNS, 4)
    plain = [PlainRun(run, actors[run], critics[run], combiner, weighted) for run in range(RUNS)]
    conflict, losses = [0.0, 0.0], [0.0, 0.0]
    for step in range(1, 6):
        rows = torch.stack([torch.randperm(SIZE)[:batch_size] for _ in range(RUNS)])
        order = torch.rand(RUNS, M, M).argsort(-1)
        size = (torch.tensor(RATE) / (1 - 0.9**step)).unsqueeze(-1)
        correction = torch.tensor((1 - 0.999**step) ** 0.5)
        flat_rows = rows + torch.arange(RUNS).unsqueeze(-1) * SIZE
        update.step(actor_state, critic_state, data, flat_rows, order, numbers, size, correction, record)
        for run in range(RUNS):
            names = ("inputs", "action", "log_prob", "advantage", "target", "attention")
            batch = {name: piece[run, rows[run]] for name, piece in zip(names, pieces, strict=True)}
            conflict[run] += plain[run].step(batch, order[run])
            losses[run] += plain[run].value_loss
    for run in range(RUNS):
        torch.testing.assert_close(actor_state.params[run], _flat(actors[run]), rtol=1e-3, atol=2e-5)
        torch.testing.assert_close(critic_state.params[run], _flat(critics[run]), rtol=1e-3, atol=2e-5)
    torch.testing.assert_close(record[:, 0], torch.tensor(conflict))
    torch.testing.assert_close(record[:, 3], torch.tensor(losses), rtol=1e-3, atol=1e-3)


def test_compiled_update_equals_the_eager_one() -> None:
    torch.manual_seed(0)
    template, flat_actor = initial(lambda: UnitBoxGaussianActor(N, M, A, HIDDEN), [1, 2])
    critic_template, flat_critic = initial(lambda: BranchedCritic(N, M, HIDDEN), [3, 4])
    columns = Columns(N + M, A, 1, M, M, M)
    weights = specs.PCGrad().weigh()
    head, critic = GaussianHead(torch.zeros(A), torch.ones(A)), stacked_critic(critic_template, M)
    update = Update(Actor(template), head, critic, weights, columns, weighted_critic=True)  # type: ignore[arg-type]
    data = torch.randn(RUNS, SIZE, sum(columns))
    numbers = Numbers(*(torch.tensor(values) for values in (CLIP, VALUE, ENTROPY, LIMIT)))
    rows = torch.stack([torch.randperm(SIZE)[:16], SIZE + torch.randperm(SIZE)[:16]])
    order, size, correction = torch.rand(RUNS, M, M).argsort(-1), torch.full((RUNS, 1), 1e-3), torch.tensor(0.1)
    results = []
    for step in (update.step, torch.compile(update.step, fullgraph=True, dynamic=False, backend="aot_eager")):
        state, record = (_trainable(flat_actor), _trainable(flat_critic)), torch.zeros(RUNS, 4)
        step(*state, data, rows, order, numbers, size, correction, record)
        results.append([*state[0], *state[1], record])
    for eager, compiled in zip(*results, strict=True):
        torch.testing.assert_close(compiled, eager)


@pytest.mark.parametrize("size", [2, 12, 64])  # by the kernel, by both, by the gradients
def test_every_way_to_the_gramian_agrees(size: int) -> None:
    features, errors = [torch.randn(RUNS, size, k) for k in (16, 16)], [torch.randn(RUNS, size, k) for k in (16, 2)]
    slope, per_sample = torch.randn(RUNS, size, 2), torch.randn(RUNS, size, M)
    kernel = sum((layer_kernel(f, e) for f, e in zip(features, errors, strict=True)), torch.bmm(slope, slope.mT))
    pieces = [torch.bmm(per_sample.mT, slope)]
    for inputs, error in zip(features, errors, strict=True):
        pieces.extend(layer_gradients(inputs, error, per_sample))
        single = torch.einsum("rbm,rbo,rbi->rmoi", per_sample, error, inputs)
        torch.testing.assert_close(pieces[-2], single.flatten(2), rtol=1e-4, atol=1e-3)
    jacobian = torch.cat(pieces, -1)
    expected = jacobian @ jacobian.mT
    scale = float(expected.abs().max())
    torch.testing.assert_close(per_sample.mT @ kernel @ per_sample, expected, rtol=1e-4, atol=1e-5 * scale)
    chosen = objective_gramian(features, errors, {"log_std": slope}, per_sample)
    torch.testing.assert_close(chosen, expected, rtol=1e-4, atol=1e-5 * scale)


def test_blocks_and_specs_combine_alike() -> None:
    jacobian, eta = torch.randn(RUNS, M, 20), torch.rand(RUNS, M).softmax(-1)
    gramian, order = jacobian @ jacobian.mT, torch.rand(RUNS, M, M).argsort(-1)
    for spec, block in ((specs.PCGrad(), PCGrad), (specs.WeightedPCGrad(), WeightedPCGrad)):
        own = spec.weigh()(gramian, eta, order)
        rows = pcgrad_projections(gramian, order)
        expected = rows.sum(-2) if block is PCGrad else (M * eta.unsqueeze(-1) * rows).sum(-2)
        torch.testing.assert_close(own, expected)
