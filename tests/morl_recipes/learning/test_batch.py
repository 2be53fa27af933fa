from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from morl_blocks.combiners import PCGrad
from morl_blocks.critics import AttentionWeightedCritic, BranchedCritic, SharedCritic
from morl_blocks.preferences import PreferenceSampler
from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff, Linear, SmoothTchebycheff
from morl_blocks.schedulers import ConflictBraked, Fixed, LinearDecay
from morl_envs.toy import toy
from morl_recipes import PASTA, ROWS, Recipe, Run
from morl_recipes.learning.batch import Batch
from morl_recipes.learning.observations import scaled
from morl_recipes.learning.state import tensors_of
from morl_recipes.learning.targets import expected_returns
from morl_recipes.recipe import specs
from morl_recipes.recipe.spec import Live, spec
from tests.morl_recipes.worlds import poisoned, runs_of, tiny, trained
from tests.refusals import refused

HALF = (0.5, 0.5)
OURS = ROWS["ours"]
NORMALIZED = replace(toy(), normalize_observations=True)


def _own(batch: Batch, run: int) -> dict[str, Tensor]:
    """Return everything that belongs to one run."""
    state = tensors_of(batch)
    names = ["low", "high", "conflict", "carry", "observation", "stream/learning"]
    names += [name for name in state if name.startswith(("actor/", "critic/", "scale/"))]
    rows = {name: state[name][run] for name in names}
    rows |= {name: state[name].unflatten(0, (-1, 4))[run] for name in state if name.startswith("env/")}
    own = f"scalarizer/blocks.{run}."
    return rows | {name.replace(f".{run}.", "."): state[name] for name in state if name.startswith(own)}


def _assert_same(first: Batch, second: Batch, *runs: int) -> None:
    for run in runs:
        others = _own(second, run)
        for name, tensor in _own(first, run).items():
            assert torch.equal(tensor, others[name]), (run, name)


@pytest.mark.parametrize("row", ["PASTA", "SER-STCH", "Conditioned SER-STCH", "SelfTuned"])
def test_changing_one_run_leaves_the_others_bit_identical(row: str) -> None:
    recipe = other = tiny(OURS.get(row, PASTA))
    if row == "PASTA":
        other = replace(tiny(learning_rate=1e-2), mu=specs.ConflictBraked(base=specs.LinearDecay(5.0, 1.0)))
    base = [Run(recipe, (0.1 * seed, 1 - 0.1 * seed), seed) for seed in range(5)]
    changed = [*base[:3], Run(other, (0.1, 0.9), 77), base[4]]
    parts = []
    for chunk in (2, 8):
        first, second = (trained(runs, chunk=chunk) for runs in (base, changed))
        _assert_same(first, second, 0, 1, 2, 4)
        assert not torch.equal(first.actor.params[3], second.actor.params[3])
        parts.append(first.actor.params)
    torch.testing.assert_close(*parts, rtol=1e-3, atol=1e-4)


def test_a_conditioned_run_does_not_depend_on_its_neighbours() -> None:
    recipe = replace(tiny(OURS["Exact PCGrad"]), preferences=specs.Dirichlet(0.5))
    alone, among, changed = (
        trained([Run(recipe, HALF, seed) for seed in seeds], chunk=2) for seeds in ([3], [1, 2, 3], [1, 7, 3])
    )
    first, second = _own(alone, 0), _own(among, 2)
    first["drawn"], second["drawn"] = (tensors_of(batch)["stream/preferences"][-1] for batch in (alone, among))
    for name, tensor in first.items():
        torch.testing.assert_close(tensor, second[name], rtol=1e-4, atol=1e-5)
    assert torch.equal(alone.collector.preferences[0], among.collector.preferences[2])
    assert torch.equal(changed.actor.params[2], among.actor.params[2])


def test_a_sampler_that_leaves_the_simplex_is_named() -> None:
    class Loose(PreferenceSampler):
        def draw(self, count: int, num_objectives: int, generator: torch.Generator) -> Tensor:
            return torch.ones(count, num_objectives)

    recipe = replace(tiny(), preferences=Live(Loose()))
    refused(r"`Loose.draw` must sum to 1, got a sum of 2.0", trained, runs_of(recipe, 1))


@pytest.mark.parametrize("row", ["SER-STCH", "Conditioned SER-STCH"])
@pytest.mark.parametrize("source", [toy(), NORMALIZED], ids=["raw", "normalized"])
def test_each_preference_is_judged_by_its_critic_at_the_initial_states(row: str, source: Any) -> None:
    batch = trained(runs_of(tiny(OURS[row]), 2, (0.3, 0.7)), source=source)
    initial = batch.collector.initial
    assert initial is not None
    assert len(initial.observation[0].unique(dim=0)) > 4  # more than the first episodes
    preferences = torch.rand(2, 5, 2).softmax(-1)
    preferences[:, 3] = preferences[:, 0]
    found = expected_returns(batch, preferences)
    for run in range(2):
        for step in range(5):
            states = initial.observation[run : run + 1]
            if batch.scale is not None:
                states = scaled(states, batch.scale.mean[run], batch.scale.variance[run])
            inputs = torch.cat([states, preferences[run, step].expand(1, states.shape[1], 2)], -1)
            values = batch.learner.critic.values(batch.critic.params[run : run + 1], inputs)
            torch.testing.assert_close(found[run, step], values.mean(1)[0])


def test_an_ordinary_batch_saves_no_initial_states_accounts_or_stream_of_preferences() -> None:
    kept = ("initial", "accrual", "stream/preferences")
    assert not [name for name in tensors_of(trained(runs_of(tiny(), 1), 0)) if name.startswith(kept)]


def test_the_learning_rate_falls_in_a_straight_line_or_stays() -> None:
    runs = [Run(tiny(learning_rate=1e-3, learning_rate_decay=share), HALF, 0) for share in (0.0, 0.5, 1.0)]
    batch, rates = trained(runs, 0, total_steps=256), []
    for _ in range(4):
        rates.append(batch.learning_rate())
        batch.iterate()
    expected = torch.tensor([[1, 1, 1], [1, 0.875, 0.75], [1, 0.75, 0.5], [1, 0.625, 0.25]]) * 1e-3
    torch.testing.assert_close(torch.stack(rates), expected)
    assert torch.equal(torch.stack(rates)[:, 0], torch.full((4,), 1e-3))  # bit by bit as without a decay
    torch.testing.assert_close(batch.learning_rate(), torch.tensor([1e-3, 5e-4, 0.0]))
    before = batch.actor.params.clone()
    batch.iterate()  # the steps are over: nothing is left of the third rate
    moved = (batch.actor.params - before).abs().amax(-1)
    assert moved[0] > 1e-4
    assert moved[2] == 0


@pytest.mark.parametrize(
    ("place", "recipe"),
    [("reward", tiny()), ("observation", tiny()), ("reward", tiny(replace(PASTA, combiner=specs.TorchJD())))],
    ids=["reward", "observation", "a combiner that is called run by run"],
)
def test_a_failing_run_stops_and_the_others_do_not_notice(place: str, recipe: Recipe) -> None:
    sick, well = (trained(runs_of(recipe, 3), 0, poisoned(1, 4, after=after, place=place)) for after in (20, 10**9))
    failures = []
    for number in range(4):
        before = sick.actor.params[1].clone()
        failures.append(sick.iterate().failed)
        assert well.iterate().failed == {}
        if number:
            assert torch.equal(sick.actor.params[1], before)
    assert failures == [{}, {1: place}, {}, {}]
    assert sick.alive.tolist() == [True, False, True]
    _assert_same(well, sick, 0, 2)


def test_exploding_parameters_are_found() -> None:
    batch = trained([Run(tiny(learning_rate=1e30), HALF, 0), Run(tiny(), HALF, 0)], 0)
    assert 0 in {run for _ in range(2) for run in batch.iterate().failed}
    assert batch.alive.tolist() == [False, True]
    assert bool(batch.actor.params.isfinite().all())


OwnScheduler = spec(type("OwnScheduler", (Fixed,), {}))


@pytest.mark.parametrize(
    "slots",
    [
        {"combiner": PCGrad()},
        {"combiner": specs.TorchJD("UPGradWeighting")},
        {"mu": Fixed(2.0)},
        {"mu": OwnScheduler()},
        {"scalarizer": Linear(), "combiner": specs.WeightedSum()},
        {"critic": SharedCritic(4, 2, hidden=8, activation=torch.nn.ReLU)},
    ],
    ids=["live combiner", "TorchJD", "live scheduler", "own scheduler", "live scalarizer", "live critic"],
)
def test_blocks_that_cannot_be_stacked_are_called_run_by_run(slots: dict[str, Any]) -> None:
    batch = trained(runs_of(tiny(replace(PASTA, **slots)), 3), iterations=2, chunk=2)
    assert bool(batch.alive.all())
    assert bool(batch.actor.params.isfinite().all())
    assert not torch.equal(batch.actor.params[0], batch.actor.params[1])


def test_a_live_scalarizer_with_its_own_scheduler_is_stepped() -> None:
    live = AdaptiveSmoothTchebycheff(ConflictBraked(LinearDecay(10.0, 1.0), smoothing=1.0))
    own = {"scalarizer": live}, {"mu": specs.ConflictBraked(base=specs.LinearDecay(10.0, 1.0), smoothing=1.0)}
    batch, expected = (trained(runs_of(tiny(replace(PASTA, **slots)), 2), iterations=4) for slots in own)
    assert bool((batch.mu < 10).all())
    torch.testing.assert_close(batch.mu, expected.mu)


def test_normalized_targets_train_the_critic_in_the_unit_interval() -> None:
    batch = trained(runs_of(tiny(normalize_targets=True, learning_rate=1e-2), 1), iterations=5)
    rollout = batch.collector.collect(batch.actor.params, torch.zeros(1, 16, 4, 2), None)
    values = batch.learner.critic.values(batch.critic.params, rollout.inputs.flatten(1, 2))
    assert -0.5 < float(values.min()) <= float(values.max()) < 1.5
    assert float(batch.normalizer.high.max()) > 3  # while raw returns are larger


def test_observation_statistics_are_per_run() -> None:
    batch = trained(runs_of(tiny(), 2), source=NORMALIZED)
    assert batch.scale is not None
    assert not torch.equal(batch.scale.mean[0], batch.scale.mean[1])
    inputs = batch.collector.inputs(batch.collector.observation, batch.collector.preferences, batch.scale)
    assert float(inputs[..., :4].abs().max()) <= 10


def test_bad_settings_are_named() -> None:
    refused("`num_envs` must divide steps_per_iteration", trained, runs_of(tiny(), 1), num_envs=5)
    refused("`runs` must hold at least one run", trained, [])
    refused("`preferences` must hold 2 numbers", trained, runs_of(tiny(), 1, (0.2, 0.3, 0.5)))


def test_a_live_attention_weighted_critic_is_weighted() -> None:
    def loss(critic: Any) -> Tensor:
        torch.manual_seed(0)
        recipe = tiny(replace(PASTA, critic=critic, mu=specs.Fixed(0.01)))
        return trained(runs_of(recipe, 1, (0.1, 0.9)), 0).iterate().metrics["loss_value"]

    plain, weighted = BranchedCritic(4, 2, hidden=8), AttentionWeightedCritic(BranchedCritic(4, 2, hidden=8))
    weighted.critic.load_state_dict(plain.state_dict())
    assert not torch.allclose(loss(plain), loss(weighted))


@pytest.mark.parametrize(
    ("scalarizer", "expected"),
    [
        (specs.Linear(), torch.nan),
        (specs.Tchebycheff(), torch.nan),
        (SmoothTchebycheff(0.1), 0.1),
        (specs.SmoothTchebycheff(2.0), 2.0),
        (AdaptiveSmoothTchebycheff(Fixed(3.0)), 3.0),
    ],
)
def test_the_reported_smoothness_is_the_one_in_use(scalarizer: Any, expected: float) -> None:
    recipe = tiny(replace(PASTA, scalarizer=scalarizer, mu=specs.Fixed(2.0)))
    torch.testing.assert_close(trained(runs_of(recipe, 2), 0).mu, torch.full((2,), expected), equal_nan=True)
