import pytest
import torch
from torch import Tensor, nn

from morl_blocks.critics import AttentionWeightedCritic, BranchedCritic, SharedCritic
from morl_blocks.ppo import CategoricalActor, UnitBoxGaussianActor
from morl_recipes.learning.fast.networks import BranchedStack, FastActor, FastCritic, SharedStack, fast_critic
from morl_recipes.learning.lift import Layout, initial

RUNS, BATCH, N, M, HIDDEN = 3, 5, 4, 2, 8
CRITICS = [
    (SharedCritic, SharedStack, {}),
    (SharedCritic, SharedStack, {"depth": 1}),
    (BranchedCritic, BranchedStack, {}),
    (BranchedCritic, BranchedStack, {"depth": 3}),
]


def _critics(kind: type[nn.Module], options: dict[str, object]) -> tuple[list[nn.Module], Tensor]:
    made: list[nn.Module] = []

    def make() -> nn.Module:
        made.append(kind(N, M, hidden=HIDDEN, **options))
        return made[-1]

    return made, initial(make, range(RUNS))[1]


@pytest.mark.parametrize(("kind", "stack", "options"), CRITICS)
def test_stacked_critic_has_the_values_and_gradients_of_its_modules(
    kind: type[nn.Module], stack: type[FastCritic], options: dict[str, object]
) -> None:
    modules, flat = _critics(kind, options)
    inputs, error = torch.randn(RUNS, BATCH, N + M), torch.randn(RUNS, BATCH, M)
    stacked = fast_critic(AttentionWeightedCritic(modules[0]))
    assert type(stacked) is stack
    assert stacked.weighted
    assert not fast_critic(modules[0]).weighted
    values, pull = stacked.pullback(flat, inputs)
    gradient = pull(error)
    for run, module in enumerate(modules):
        expected = module(inputs[run, :, :N], inputs[run, :, N:])
        rows = torch.autograd.grad(expected, list(module.parameters()), error[run])
        torch.testing.assert_close(values[run], expected)
        torch.testing.assert_close(stacked.values(flat, inputs)[run], expected)
        torch.testing.assert_close(gradient[run], torch.cat([row.flatten() for row in rows]))


@pytest.mark.parametrize("kind", [UnitBoxGaussianActor, CategoricalActor])
def test_actor_has_the_output_and_gradient_of_its_module(kind: type[nn.Module]) -> None:
    made: list[nn.Module] = []

    def make() -> nn.Module:
        made.append(kind(N, M, 3, HIDDEN))
        return made[-1]

    template, flat = initial(make, range(RUNS))
    actor = FastActor(template)  # type: ignore[arg-type]
    inputs, error = torch.randn(RUNS, BATCH, N + M), torch.randn(RUNS, BATCH, 3)
    layers = actor.read(flat)[1]
    raw, features = actor.forward(layers, inputs)
    extra = {"log_std": torch.zeros(RUNS, 3)} if kind is UnitBoxGaussianActor else {}
    gradient = actor.gradient(features, actor.errors(layers, features, error), extra)
    for run, module in enumerate(made):
        output = module(inputs[run, :, :N], inputs[run, :, N:])
        mean = output[0].logit() if isinstance(output, tuple) else output
        rows = torch.autograd.grad(mean, list(module.parameters()), error[run], allow_unused=True)
        pairs = zip(module.parameters(), rows, strict=True)
        expected = torch.cat([(torch.zeros_like(p) if g is None else g).flatten() for p, g in pairs])
        torch.testing.assert_close(raw[run], mean, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(gradient[run], expected, rtol=1e-4, atol=1e-5)


def test_parameters_are_read_again_after_a_change_in_place_and_for_another_tensor() -> None:
    module = BranchedCritic(N, M, HIDDEN)
    critic, flat = fast_critic(module), torch.randn(RUNS, Layout.of(module).size)
    inputs, first = torch.randn(RUNS, BATCH, N + M), flat.clone()
    before = critic.values(flat, inputs)
    flat.mul_(0.5)
    assert torch.equal(critic.values(flat, inputs), critic.values(flat.clone(), inputs))
    assert torch.equal(critic.values(first, inputs), before)
