"""Both updates against a plain single-run PASTA: autograd, one backward pass per objective, torch.optim.Adam."""

import copy
from typing import Literal

import pytest
import torch
from torch import Tensor, nn

from morl_blocks.combiners import Combiner, conflict_ratio
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
from morl_recipes import Recipe
from morl_recipes.learning.adam import AdamState, StepSize, step_sizes
from morl_recipes.learning.blocks import Combine
from morl_recipes.learning.fast.update import FastUpdate
from morl_recipes.learning.lift import initial
from morl_recipes.learning.minibatch import Hyper, Samples, minibatches
from morl_recipes.learning.networks import Learner, Networks
from morl_recipes.learning.update import Update
from morl_recipes.recipe import specs

RUNS, SIZE, N, M, A, HIDDEN = 2, 64, 4, 3, 2, 8
CLIP, VALUE, ENTROPY, LIMIT, RATE = (0.2, 0.1), (0.5, 1.0), (0.01, 0.1), (0.5, 0.05), (3e-4, 1e-2)
Form = Literal["generic", "fast"]


class PlainRun:
    """One run as a textbook would write it."""

    def __init__(self, run: int, actor: nn.Module, critic: nn.Module, combiner: Combiner, weighted: bool) -> None:
        self.run, self.actor, self.critic, self.combiner, self.weighted = run, actor, critic, combiner, weighted
        self.optimisers = [torch.optim.Adam(net.parameters(), lr=RATE[run]) for net in (actor, critic)]

    def step(self, data: Samples, noise: Tensor | None) -> float:
        x, w = data.inputs[:, :N], data.inputs[:, N:]
        output = self.actor(x, w)
        if isinstance(output, tuple):
            log_prob, entropy = gaussian_log_prob(data.action, *output), gaussian_entropy(output[1]).mean()
        else:
            log_prob, entropy = categorical_log_prob(data.action, output), categorical_entropy(output).mean()
        losses = clipped_objectives(log_prob, data.old_log_prob, data.advantage, CLIP[self.run])
        params = list(self.actor.parameters())
        jacobian = objective_jacobian(losses, params)
        gramian = jacobian @ jacobian.T
        one = len(losses) == 1
        update = jacobian[0] if one else self.combiner.combine(gramian, data.attention.mean(0), noise) @ jacobian
        bonus = torch.autograd.grad(-ENTROPY[self.run] * entropy, params, allow_unused=True)
        pieces = update.split([p.numel() for p in params])
        for param, piece, own in zip(params, pieces, bonus, strict=True):
            param.grad = piece.view_as(param) + (0 if own is None else own)
        errors = (self.critic(x, w) - data.target).square()
        weight = data.attention if self.weighted else 1 / M
        loss = (weight * errors).sum(-1).mean()
        self.value_loss = float(loss.detach())
        self.critic.zero_grad()
        (VALUE[self.run] * loss).backward()
        for net, optimiser in zip((self.actor, self.critic), self.optimisers, strict=True):
            nn.utils.clip_grad_norm_(net.parameters(), LIMIT[self.run])
            optimiser.step()
        return 0.0 if one else float(conflict_ratio(gramian))


def _modules(template: nn.Module, params: Tensor) -> list[nn.Module]:
    """Return the network of each run as an ordinary module."""
    modules = [copy.deepcopy(template) for _ in params]
    for module, row in zip(modules, params, strict=True):
        nn.utils.vector_to_parameters(row.clone(), module.parameters())
    return modules


class Setting:
    """Networks, data and the update for two runs."""

    def __init__(self, recipe: Recipe, form: Form, *, discrete: bool, scalarised: bool = False) -> None:
        torch.manual_seed(0)
        kind = CategoricalActor if discrete else UnitBoxGaussianActor
        actor, actor_params = initial(lambda: kind(N, M, A, HIDDEN), [1, 2])
        critic, critic_params = initial(lambda: recipe.critic.build(N, M), [3, 4])
        self.actors, self.critics = _modules(actor, actor_params), _modules(critic, critic_params)
        self.networks = Networks(actor, critic, actor_params, critic_params)  # type: ignore[arg-type]
        q = 1 if scalarised else M
        self.data = Samples(
            torch.randn(RUNS, SIZE, N + M),
            torch.randint(A, (RUNS, SIZE)) if discrete else torch.rand(RUNS, SIZE, A),
            -torch.rand(RUNS, SIZE),
            torch.randn(RUNS, SIZE, q),
            torch.randn(RUNS, SIZE, M),
            torch.rand(RUNS, SIZE, M).softmax(-1),
        )
        self.combine = Combine([recipe] * RUNS, M)
        self.update: Update = Learner(recipe, self.networks, M, form).update(self.combine)
        self.hyper = Hyper(*(torch.tensor(values) for values in (CLIP, VALUE, ENTROPY, LIMIT)))
        self.actor, self.critic = AdamState.of(actor_params), AdamState.of(critic_params)
        self.record = torch.zeros(RUNS, 4)

    def draw(self, size: int) -> tuple[Tensor, Tensor | None]:
        rows = torch.stack([torch.randperm(SIZE)[:size] for _ in range(RUNS)])
        noise = self.combine.draw(1, M, [torch.default_generator] * RUNS)
        return rows, None if noise is None else noise[0]

    def step(self, rows: Tensor, noise: Tensor | None, size: StepSize, step: object = None) -> None:
        (batch,) = minibatches(self.data, rows.unsqueeze(0), self.hyper, self.combine.weigh, standardise=False)
        take = self.update.step if step is None else step
        take(self.actor, self.critic, batch, noise, self.hyper, size, self.record)  # type: ignore[operator]


@pytest.mark.parametrize("form", ["generic", "fast"])
@pytest.mark.parametrize("batch_size", [4, 16, 48])  # by the kernel, by both, by the gradients
@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize(
    ("combiner", "critic", "scalarised"),
    [
        (specs.PCGrad(), specs.AttentionWeighted(specs.Branched(hidden=HIDDEN)), False),
        (specs.WeightedPCGrad(), specs.Shared(hidden=HIDDEN), False),
        (specs.Sum(), specs.AttentionWeighted(specs.Shared(hidden=HIDDEN, depth=1)), False),
        (specs.WeightedSum(), specs.Branched(hidden=HIDDEN, depth=3), False),
        (specs.PCGrad(), specs.Branched(hidden=HIDDEN), True),
    ],
)
def test_update_equals_plain_pasta(
    combiner: specs.Spec, critic: specs.Spec, scalarised: bool, discrete: bool, batch_size: int, form: Form
) -> None:
    recipe, weighted = Recipe(combiner=combiner, critic=critic), critic.kind is specs.AttentionWeighted
    setting = Setting(recipe, form, discrete=discrete, scalarised=scalarised)
    assert type(setting.update) is (FastUpdate if form == "fast" else Update)
    runs = range(RUNS)
    plain = [PlainRun(run, setting.actors[run], setting.critics[run], combiner.build(), weighted) for run in runs]
    conflict, losses = [0.0, 0.0], [0.0, 0.0]
    for size in step_sizes(torch.tensor(RATE), 0, 5).steps(slice(RUNS)):
        rows, noise = setting.draw(batch_size)
        setting.step(rows, noise, size)
        for run in runs:
            batch = Samples(*(column[run, rows[run]] for column in setting.data))
            conflict[run] += plain[run].step(batch, None if noise is None else noise[run])
            losses[run] += plain[run].value_loss
    for run in runs:
        for own, module in ((setting.actor, plain[run].actor), (setting.critic, plain[run].critic)):
            expected = nn.utils.parameters_to_vector(module.parameters())
            torch.testing.assert_close(own.params[run], expected.detach(), rtol=1e-3, atol=2e-5)
    torch.testing.assert_close(setting.record[:, 0], torch.tensor(conflict))
    torch.testing.assert_close(setting.record[:, 3], torch.tensor(losses), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("form", ["generic", "fast"])
def test_a_compiled_update_equals_the_eager_one(form: Form) -> None:
    results = []
    for compiled in (False, True):
        setting = Setting(Recipe(critic=specs.AttentionWeighted(specs.Branched(HIDDEN))), form, discrete=False)
        rows, noise = setting.draw(16)
        step = setting.update.step
        if compiled:
            step = torch.compile(step, fullgraph=True, dynamic=False, backend="aot_eager")
        setting.step(rows, noise, StepSize(torch.full((RUNS, 1), -1e-4), torch.tensor(1e-9)), step)
        results.append([*setting.actor, *setting.critic, setting.record])
    for eager, other in zip(*results, strict=True):
        torch.testing.assert_close(other, eager)
