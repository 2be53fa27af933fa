"""Blocks of a user's own, of every family: a run in a batch equals the run alone, whatever its neighbours are."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from morl_blocks.combiners import Combiner
from morl_blocks.critics import SharedCritic
from morl_blocks.ppo import ObjectiveLoss, UnitBoxGaussianActor
from morl_blocks.scalarizers import Scalarizer
from morl_blocks.schedulers import Scheduler
from morl_envs.toy import toy
from morl_recipes import PASTA, Recipe, Run, by_batch
from morl_recipes.recipe import specs
from morl_recipes.recipe.specs import spec
from tests.morl_recipes.worlds import runs_of, tiny, trained
from tests.refusals import refused


class Power(Scalarizer):
    """The weighted power mean's sum: one number that a wrong broadcast would line up with the objectives."""

    def __init__(self, power: float = 1.0) -> None:
        super().__init__()
        self.power = power

    def score(self, values: Tensor, weights: Tensor) -> Tensor:
        return (weights * values.clamp_min(1e-3) ** self.power).sum(-1)


class Halving(Scheduler):
    """Take a share off at every step."""

    def __init__(self, share: float = 0.5) -> None:
        super().__init__(8.0)
        self.share = share

    @property
    def lowest(self) -> Tensor:
        return torch.tensor(1e-3)

    @property
    def highest(self) -> Tensor:
        return torch.tensor(8.0)

    def advance(self, progress: Tensor, conflict: Tensor) -> Tensor:
        return (self.mu * (1 - self.share)).clamp_min(1e-3)


class Scaled(Combiner):
    """The sum, times a number."""

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__()
        self.scale = scale

    def combine(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> Tensor:
        return self.scale * torch.ones_like(attention)


class Huber(nn.Module):
    """A plain critic with a loss of its own."""

    def __init__(self, observation_dim: int, num_objectives: int, delta: float = 1.0) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(observation_dim + num_objectives, 8), nn.ELU(), nn.Linear(8, num_objectives))
        self.delta = delta

    def forward(self, observation: Tensor, preference: Tensor) -> Tensor:
        values: Tensor = self.net(torch.cat([observation, preference], -1))
        return values

    def loss(self, values: Tensor, targets: Tensor, attention: Tensor | None = None) -> Tensor:
        return nn.functional.huber_loss(values, targets, delta=self.delta)


class Tempered(UnitBoxGaussianActor):
    """An actor whose distribution has a parameter that its network's output does not show."""

    def __init__(self, observation_dim: int, num_objectives: int, action_dim: int, start: float = 0.0) -> None:
        super().__init__(observation_dim, num_objectives, action_dim, hidden=8)
        self.heat = nn.Parameter(torch.tensor(start))

    def sample(self, output: tuple[Tensor, Tensor], noise: Tensor) -> Tensor:
        return super().sample((output[0], output[1] + self.heat), noise)

    def log_prob(self, output: tuple[Tensor, Tensor], action: Tensor) -> Tensor:
        return super().log_prob((output[0], output[1] + self.heat), action)


class Unclipped(ObjectiveLoss):
    """The surrogate without a clip, times a number."""

    def __init__(self, factor: float = 1.0) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, log_prob: Tensor, old_log_prob: Tensor, advantage: Tensor, clip: Tensor | float) -> Tensor:
        return -self.factor * ((log_prob - old_log_prob).exp().unsqueeze(-1) * advantage).mean(-2)


FAMILIES = {
    "scalarizer": spec(Power),
    "mu": spec(Halving),
    "combiner": spec(Scaled),
    "critic": spec(Huber, slot="critic"),
    "actor": spec(Tempered),
    "loss": spec(Unclipped),
}
SHARED = ("scalarizer", "mu")
"""Slots whose numbers may differ within a batch."""


def recipe(slot: str, number: float) -> Recipe:
    small = tiny(PASTA)
    mu = {"mu": None} if slot == "scalarizer" else {}
    return replace(small, **{slot: FAMILIES[slot](number), **mu})  # type: ignore[arg-type]


@pytest.mark.parametrize("objectives", [2, 3])
@pytest.mark.parametrize("slot", FAMILIES)
@settings(max_examples=3, deadline=None)
@given(numbers=st.lists(st.floats(0.1, 0.9), min_size=3, max_size=3, unique=True))
def test_a_run_in_a_batch_equals_the_run_alone(slot: str, objectives: int, numbers: list[float]) -> None:
    source = toy(objectives, action_dim=3)
    weights = tuple(1 / objectives for _ in range(objectives))
    own = numbers[:objectives] if slot in SHARED else numbers[:1] * objectives  # as many runs as objectives
    runs = [Run(recipe(slot, number), weights, seed) for seed, number in enumerate(own)]
    together = trained(runs, source=source)
    assert bool(together.alive.all())
    for index, run in enumerate(runs):
        alone = trained([run], source=source)
        torch.testing.assert_close(together.actor.params[index], alone.actor.params[0], rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(together.mu[index], alone.mu[0], equal_nan=True)


@pytest.mark.parametrize("slot", FAMILIES)
def test_numbers_reach_their_own_run(slot: str) -> None:
    runs = [Run(recipe(slot, number), (0.5, 0.5), 0) for number in (0.2, 0.8)]
    assert all(Recipe.from_json(run.recipe.to_json()) == run.recipe for run in runs)
    groups = by_batch(runs)
    assert len(groups) == (1 if slot in SHARED else 2)
    batches = [trained(group) for group in groups]
    first, second = torch.cat([batch.actor.params for batch in batches])
    assert not torch.equal(first, second)
    assert {batch.how for batch in batches} == {"fast" if slot in ("scalarizer", "mu", "combiner") else "generic"}


class Convolutional(UnitBoxGaussianActor):
    """Look at an observation as a picture of 1 x 4 x 4 pixels, of which 16 features are left."""

    def __init__(self, observation_dim: int, num_objectives: int, action_dim: int) -> None:
        super().__init__(observation_dim, num_objectives, action_dim, hidden=8)
        self.eye = nn.Sequential(nn.Unflatten(-1, (1, 4, 4)), nn.Conv2d(1, 4, 3), nn.Tanh(), nn.Flatten(-3))

    def forward(self, observation: Tensor, preference: Tensor) -> tuple[Tensor, Tensor]:
        return super().forward(self.eye(observation), preference)


@pytest.mark.parametrize("live", [False, True])
def test_a_picture_goes_through_a_convolutional_actor(live: bool) -> None:
    actor = Convolutional(16, 2, 2) if live else spec(Convolutional)()
    made = replace(tiny(PASTA, learning_rate=1e-2, entropy_coefficient=0.0), actor=actor)  # type: ignore[arg-type]
    batch = trained(runs_of(made, 1), 0, toy(observation_dim=16), total_steps=1280)
    first = batch.iterate().metrics["episode"].sum()
    for _ in range(15):
        last = batch.iterate().metrics["episode"].sum()
    assert batch.how == "generic"
    assert last > first


class Matrix(Combiner):
    def combine(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> Tensor:
        return gramian


class Forgotten(Combiner):
    def combine(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> Tensor:  # type: ignore[empty-body]
        pass


class OneValue(SharedCritic):
    def forward(self, observation: Tensor, preference: Tensor) -> Tensor:
        return super().forward(observation, preference)[..., :1]


class Unsummed(UnitBoxGaussianActor):
    def log_prob(self, output: tuple[Tensor, Tensor], action: Tensor) -> Tensor:
        return -(action - output[0]).square()


class Short(UnitBoxGaussianActor):
    def sample(self, output: tuple[Tensor, Tensor], noise: Tensor) -> Tensor:
        return super().sample(output, noise)[..., :1]


class OneLoss(ObjectiveLoss):
    def forward(self, log_prob: Tensor, old_log_prob: Tensor, advantage: Tensor, clip: Tensor | float) -> Tensor:
        return (log_prob - old_log_prob).mean()


@pytest.mark.parametrize(
    ("slot", "block", "expected", "got"),
    [
        ("combiner", Matrix, r"Matrix.combine` .* \[1, 2\]", r"shape \[1, 2, 2\]"),
        ("combiner", Forgotten, r"Forgotten.combine` .* \[1, 2\]", "NoneType"),
        ("critic", OneValue, r"OneValue.forward` .* \[1, 64, 2\]", r"shape \[1, 64, 1\]"),
        ("actor", Unsummed, r"Unsummed.log_prob` .* \[1, 64\]", r"shape \[1, 64, 2\]"),
        ("actor", Short, r"Short.sample` .* \[1, 4, 2\]", r"shape \[1, 4, 1\]"),
        ("loss", OneLoss, r"OneLoss.forward` .* \[2\]", r"shape \[\]"),
    ],
)
def test_a_block_that_returns_another_shape_is_named(slot: str, block: type, expected: str, got: str) -> None:
    made: Any = spec(block, name=f"Wrong{block.__name__}")()
    slots: dict[str, Any] = {slot: specs.AttentionWeighted(made) if slot == "critic" else made}
    refused(f"`{expected}, got {got}", trained, runs_of(replace(tiny(PASTA), **slots), 1))
