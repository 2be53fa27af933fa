from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from morl_blocks.combiners import Sum
from morl_blocks.ppo import Actor, ActorPenalty, ClippedSurrogate, Estimate, VectorAdvantage
from morl_blocks.preferences import PreferenceSampler
from morl_blocks.scalarizers import Scalarizer
from morl_envs.toy import toy
from morl_recipes import PASTA, ROWS, EnvSource, Recipe, Run
from morl_recipes.learning.batch import Batch
from morl_recipes.learning.state import load_tensors, tensors_of
from morl_recipes.recipe import specs
from morl_recipes.recipe.settings import Settings
from tests.morl_recipes.worlds import tiny
from tests.refusals import refused


class Counting(nn.Module):
    """A block that counts its calls."""

    count: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def tick(self) -> Tensor:
        self.count = self.count + 1
        return self.count


class CountingSum(Counting, Sum):
    """Weigh the objectives by the number of calls."""

    def combine(self, gramian: Tensor, attention: Tensor, noise: Tensor | None) -> Tensor:
        return super().combine(gramian, attention, noise) / self.tick()


class CountingForm(Counting, VectorAdvantage):
    """Divide the advantages by the number of calls."""

    def forward(self, estimate: Estimate, scalarizer: Scalarizer, weights: Tensor) -> Tensor:
        return super().forward(estimate, scalarizer, weights) / self.tick()


class CountingLoss(Counting, ClippedSurrogate):
    """Divide the losses by the number of calls."""

    def forward(self, log_prob: Tensor, old_log_prob: Tensor, advantage: Tensor, clip: Tensor | float) -> Tensor:
        return super().forward(log_prob, old_log_prob, advantage, clip) / self.tick()


class CountingSampler(Counting, PreferenceSampler):
    """Care less for the first objective at every call."""

    def draw(self, count: int, num_objectives: int, generator: torch.Generator) -> Tensor:
        first = 0.5 / self.tick()
        return torch.stack([first, 1 - first]).expand(count, 2)


class CountingPenalty(Counting, ActorPenalty):
    """Pull actions to the middle, less at every call."""

    def forward(self, actor: Actor, observation: Tensor, preference: Tensor) -> Tensor:
        pull: Tensor = (actor(observation, preference)[0] - 0.5).square().mean() / self.tick()
        return pull


def _batch(recipe: Recipe, source: EnvSource) -> Batch:
    return Batch(
        [Run(tiny(recipe), (0.5, 0.5), seed) for seed in (0, 1)], source, Settings(total_steps=640, num_envs=4)
    )


@pytest.mark.parametrize(
    ("recipe", "normalized"),
    [
        (PASTA, False),
        (PASTA, True),
        (replace(PASTA, combiner=specs.TorchJD()), False),
        (replace(PASTA, scalarizer=specs.Linear(), mu=None), False),
        (replace(PASTA, combiner=specs.WeightedPCGrad(), preferences=specs.Uniform()), False),
        (replace(PASTA, combiner=specs.GroupedPCGrad(groups=3), preferences=specs.Grid(5)), True),
        (replace(PASTA, advantage=specs.OfEpisode(), preferences=specs.Uniform()), False),
        (ROWS["ours"]["SER-STCH"], True),
        (ROWS["ours"]["SER-STCH, PCGrad"], False),
        (ROWS["ours"]["Conditioned SER-STCH"], False),
        (ROWS["ours"]["SelfTuned"], False),
        (replace(PASTA, combiner=specs.spec(CountingSum)()), False),
        (replace(PASTA, advantage=specs.spec(CountingForm)()), False),
        (replace(PASTA, loss=specs.spec(CountingLoss)()), False),
        (replace(PASTA, preferences=specs.spec(CountingSampler)()), False),
        (replace(PASTA, penalty=specs.spec(CountingPenalty)()), False),
    ],
)
def test_a_population_goes_on_from_its_state(recipe: Recipe, normalized: bool) -> None:
    source = replace(toy(horizon=12), normalize_observations=normalized)  # a state in the middle of an episode
    first, second = _batch(recipe, source), _batch(recipe, source)
    for _ in range(2):
        first.iterate()
    first.alive[1] = False
    load_tensors(second, {name: tensor.clone() for name, tensor in tensors_of(first).items()})
    second.iteration, second.updates = first.iteration, first.updates
    for _ in range(2):
        shown, again = first.iterate().metrics, second.iterate().metrics
        assert all(torch.equal(value.nan_to_num(-1), again[name].nan_to_num(-1)) for name, value in shown.items())
    expected, state = tensors_of(first), tensors_of(second)
    assert expected.keys() == state.keys()
    for name, tensor in expected.items():
        assert torch.equal(tensor, state[name]), name


def test_only_a_conditioned_batch_has_a_stream_of_preferences() -> None:
    """What an ordinary one draws and saves is what it always was."""
    assert "stream/preferences" not in tensors_of(_batch(PASTA, toy()))
    conditioned = tensors_of(_batch(replace(PASTA, preferences=specs.Uniform()), toy()))
    assert conditioned["stream/preferences"].shape == conditioned["stream/learning"].shape


def test_a_state_that_is_no_tensor_is_named() -> None:
    class Odd(torch.nn.Module):
        def get_extra_state(self) -> str:
            return "odd"

        def set_extra_state(self, state: str) -> None:
            pass

    batch = _batch(PASTA, toy())
    batch.scalarizers = Odd()  # type: ignore[assignment]
    refused("`scalarizer` must keep its state in tensors to be saved, got str", tensors_of, batch)
