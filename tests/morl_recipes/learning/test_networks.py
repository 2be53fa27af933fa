"""What a network of one's own may hold: every run keeps its own numbers, and a policy has all that it needs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from morl_blocks.critics import SharedCritic
from morl_blocks.ppo import UnitBoxGaussianActor
from morl_envs.toy import toy
from morl_recipes import PASTA, train
from morl_recipes.learning.lift import initial
from morl_recipes.recipe import specs
from morl_recipes.recipe.specs import spec
from morl_recipes.running.stored_runs import load_policy
from tests.morl_recipes.worlds import runs_of, tiny, trained
from tests.refusals import refused


class Mixed(UnitBoxGaussianActor):
    """Mix the observation by a matrix that is not trained."""

    def __init__(self, observation_dim: int, num_objectives: int, action_dim: int, kind: str = "frozen") -> None:
        super().__init__(observation_dim, num_objectives, action_dim, hidden=8)
        self.mix: Tensor
        matrix = torch.eye(observation_dim) if kind == "constant" else torch.randn(observation_dim, observation_dim)
        if kind == "frozen":
            self.mix = nn.Parameter(matrix, requires_grad=False)
        else:
            self.register_buffer("mix", matrix, persistent=kind == "saved")

    def forward(self, observation: Tensor, preference: Tensor) -> tuple[Tensor, Tensor]:
        return super().forward(observation @ self.mix, preference)


class Counted(SharedCritic):
    """A critic with a buffer."""

    def __init__(self, observation_dim: int, num_objectives: int) -> None:
        super().__init__(observation_dim, num_objectives, hidden=8)
        self.register_buffer("count", torch.zeros(()))


def _half_frozen(observation_dim: int, num_objectives: int, action_dim: int) -> UnitBoxGaussianActor:
    actor = UnitBoxGaussianActor(observation_dim, num_objectives, action_dim, hidden=8)
    actor.trunk.requires_grad_(requires_grad=False)
    return actor


MIXED, COUNTED, HALF = spec(Mixed), spec(Counted), spec(_half_frozen, slot="actor")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"actor": MIXED("saved")}, "`actor` must keep .* requires_grad=False.*, got the buffer 'mix'"),
        ({"actor": MIXED("random")}, "`actor` must keep .* persistent=False.*, got the random buffer 'mix'"),
        ({"critic": specs.AttentionWeighted(COUNTED())}, "`critic` must keep .*, got the buffer 'critic.count'"),
    ],
)
def test_buffers_that_runs_would_share_are_refused(changes: dict[str, Any], message: str) -> None:
    refused(message, trained, runs_of(replace(tiny(), **changes), 1))


@pytest.mark.parametrize("actor", [MIXED("frozen"), MIXED("constant"), HALF()], ids=repr)
def test_what_is_not_trained_stays_and_belongs_to_its_run(actor: specs.Spec) -> None:
    recipe = replace(tiny(), actor=actor)
    start = trained(runs_of(recipe, 2), 0).actor.params
    both, alone = (trained(runs_of(recipe, count)) for count in (2, 1))
    torch.testing.assert_close(both.actor.params[:1], alone.actor.params)
    names = dict(both.learner.actor.module.named_parameters())
    before, after = (both.learner.actor.layout.views(flat) for flat in (start, both.actor.params))
    for name, parameter in names.items():
        assert torch.equal(before[name], after[name]) is not parameter.requires_grad, name
    assert both.how == "generic"


def test_the_fast_update_is_not_for_frozen_parameters() -> None:
    message = "'fast', which does not know frozen parameters in UnitBoxGaussianActor"
    refused(message, trained, runs_of(replace(tiny(), actor=HALF()), 1), update="fast")


@pytest.mark.parametrize("kind", ["frozen", "constant"])
def test_a_policy_has_what_was_not_trained(kind: str, tmp_path: Path) -> None:
    recipe = replace(tiny(PASTA), actor=MIXED(kind))
    quick: dict[str, Any] = {"num_envs": 4, "eval_episodes": 2, "progress": False, "compile": False}
    result = train(recipe, toy(), [[0.5, 0.5]], [0, 1], 64, **quick)
    first, second = (result.policy(run).actor.get_parameter("mean.weight") for run in (0, 1))
    assert not torch.equal(first, second)
    mixes: Any = [result.policy(run).actor.mix for run in (0, 1)]
    assert torch.equal(*mixes) is (kind == "constant")
    store = result.save(tmp_path / "s")
    with toy().opened(1, [0]) as env:
        for run, mix in zip(store.manifest.runs, mixes, strict=True):
            loaded: Any = load_policy(store, {"run_id": run.run_id, "preference": run.preference}, "peak", env)
            assert torch.equal(loaded.actor.mix, mix)


def test_initial_weights_depend_on_the_own_seed_alone_and_leave_the_global_generator() -> None:
    before = torch.random.get_rng_state()
    _, first = initial(lambda: nn.Linear(2, 2), [1, 2, 3])
    _, second = initial(lambda: nn.Linear(2, 2), [1, 9, 3])
    assert torch.equal(first[[0, 2]], second[[0, 2]])
    assert not torch.equal(first[1], second[1])
    assert torch.equal(before, torch.random.get_rng_state())
