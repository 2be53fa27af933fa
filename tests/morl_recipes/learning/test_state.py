from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from morl_blocks.combiners import Sum
from morl_blocks.ppo import Actor, ActorPenalty, ClippedSurrogate, VectorAdvantage
from morl_blocks.preferences import Uniform
from morl_envs.toy import toy
from morl_recipes import PASTA, ROWS, Recipe
from morl_recipes.learning.state import load_tensors, tensors_of
from morl_recipes.recipe import specs
from tests.morl_recipes.worlds import runs_of, tiny, trained
from tests.refusals import refused


class Pull(ActorPenalty):
    """Pull actions to the middle."""

    def forward(self, actor: Actor, observation: Tensor, preference: Tensor) -> Tensor:
        pull: Tensor = (actor(observation, preference)[0] - 0.5).square().mean()
        return pull


def _counting(block: type[nn.Module], method: str = "forward") -> specs.Spec:
    """Return the spec of a block whose results move towards 1/2 with the number of its calls."""

    def start(self: Any) -> None:
        block.__init__(self)
        self.register_buffer("count", torch.zeros(()))

    def call(self: Any, *args: Any) -> Tensor:
        self.count = self.count + 1
        result: Tensor = getattr(block, method)(self, *args)
        count: Tensor = self.count
        return 0.5 + (result - 0.5) / count

    made = type(f"Counting{block.__name__}", (block,), {"__init__": start, method: call})
    return specs.spec(made)()


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
        (replace(PASTA, combiner=_counting(Sum, "combine")), False),
        (replace(PASTA, advantage=_counting(VectorAdvantage)), False),
        (replace(PASTA, loss=_counting(ClippedSurrogate)), False),
        (replace(PASTA, preferences=_counting(Uniform, "draw")), False),
        (replace(PASTA, penalty=_counting(Pull)), False),
    ],
)
def test_a_population_goes_on_from_its_state(recipe: Recipe, normalized: bool) -> None:
    source = replace(toy(horizon=12), normalize_observations=normalized)  # a state in the middle of an episode
    first, second = (trained(runs_of(tiny(recipe), 2), count, source) for count in (2, 0))
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


def test_a_state_that_is_no_tensor_is_named() -> None:
    class Odd(nn.Module):
        def get_extra_state(self) -> str:
            return "odd"

        def set_extra_state(self, state: str) -> None:
            pass

    batch = trained(runs_of(tiny(), 1), 0)
    batch.scalarizers = Odd()  # type: ignore[assignment]
    refused("`scalarizer` must keep its state in tensors to be saved, got str", tensors_of, batch)
