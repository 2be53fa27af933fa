from collections.abc import Sequence
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
from morl_recipes import PASTA, ROWS, EnvSource, Recipe, Run
from morl_recipes.learning.batch import Batch
from morl_recipes.learning.observations import scaled
from morl_recipes.learning.state import tensors_of
from morl_recipes.learning.targets import expected_returns
from morl_recipes.recipe import specs
from morl_recipes.recipe.settings import Settings
from morl_recipes.recipe.spec import Live, spec
from tests.morl_recipes.worlds import poisoned, tiny
from tests.refusals import refused

HALF = (0.5, 0.5)


def _train(runs: Sequence[Run], iterations: int = 3, source: EnvSource | None = None, **options: Any) -> Batch:
    chunk = options.pop("chunk", 8)
    settings = Settings(**{"total_steps": 640, "num_envs": 4, "compile": False, **options})
    batch = Batch(runs, source or toy(), settings, chunk=chunk)
    for _ in range(iterations):
        batch.iterate()
    return batch


def _own(batch: Batch, run: int) -> dict[str, Tensor]:
    """Return everything that belongs to one run."""
    state = tensors_of(batch)
    names = ["low", "high", "conflict", "carry", "observation", "stream/learning"]
    names += [name for name in state if name.startswith(("actor/", "critic/", "scale/"))]
    rows = {name: state[name][run] for name in names}
    rows |= {name: state[name].unflatten(0, (-1, 4))[run] for name in state if name.startswith("env/")}
    rows |= {
        name.replace(f".{run}.", "."): state[name] for name in state if name.startswith(f"scalarizer/blocks.{run}.")
    }
    return rows


def test_changing_one_run_leaves_the_others_bit_identical() -> None:
    base = [Run(tiny(), HALF, seed) for seed in range(5)]
    other = replace(tiny(learning_rate=1e-2), mu=specs.ConflictBraked(base=specs.LinearDecay(5.0, 1.0)))
    changed = [*base[:3], Run(other, (0.1, 0.9), 77), base[4]]
    for chunk in (2, 8):
        first, second = (_own_all(_train(runs, chunk=chunk)) for runs in (base, changed))
        for run in (0, 1, 2, 4):
            for name, tensor in first[run].items():
                assert torch.equal(tensor, second[run][name]), (run, name)
        assert not torch.equal(first[3]["actor/params"], second[3]["actor/params"])


def test_a_conditioned_run_does_not_depend_on_its_neighbours() -> None:
    recipe = replace(tiny(ROWS["ours"]["Exact PCGrad"]), preferences=specs.Dirichlet(0.5))
    alone, among = _train([Run(recipe, HALF, 3)]), _train([Run(recipe, HALF, seed) for seed in (1, 2, 3)], chunk=2)
    first, second = _own(alone, 0), _own(among, 2)
    first |= {"preferences": alone.collector.preferences[0], "drawn": tensors_of(alone)["stream/preferences"][0]}
    second |= {"preferences": among.collector.preferences[2], "drawn": tensors_of(among)["stream/preferences"][2]}
    for name, tensor in first.items():
        torch.testing.assert_close(tensor, second[name], rtol=1e-4, atol=1e-5)
    assert torch.equal(first["preferences"], second["preferences"])
    changed = _train([Run(recipe, HALF, seed) for seed in (1, 7, 3)], chunk=2)
    assert torch.equal(_own(changed, 2)["actor/params"], second["actor/params"])


def test_a_sampler_that_leaves_the_simplex_is_named() -> None:
    class Loose(PreferenceSampler):
        def draw(self, count: int, num_objectives: int, generator: torch.Generator) -> Tensor:
            return torch.ones(count, num_objectives)

    recipe = replace(tiny(), preferences=Live(Loose()))
    with pytest.raises(ValueError, match=r"`Loose.draw` must sum to 1, got a sum of 2.0"):
        _train([Run(recipe, HALF, 0)])


def _own_all(batch: Batch) -> list[dict[str, Tensor]]:
    return [_own(batch, run) for run in range(len(batch.runs))]


@pytest.mark.parametrize("row", ["SER-STCH", "Conditioned SER-STCH"])
@pytest.mark.parametrize("normalized", [False, True])
def test_each_preference_is_judged_by_its_critic_at_the_initial_states(row: str, normalized: bool) -> None:
    source = replace(toy(), normalize_observations=normalized)
    batch = _train([Run(tiny(ROWS["ours"][row]), (0.3, 0.7), seed) for seed in range(2)], source=source)
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


@pytest.mark.parametrize("row", ["SER-STCH", "Conditioned SER-STCH", "SelfTuned"])
def test_runs_with_initial_states_or_their_own_smoothness_are_apart(row: str) -> None:
    recipe = tiny(ROWS["ours"][row])
    runs = [Run(recipe, (0.1 * seed, 1 - 0.1 * seed), seed) for seed in range(3)]
    other = [runs[0], Run(recipe, HALF, 77), runs[2]]
    first, second = (_own_all(_train(own)) for own in (runs, other))
    for run in (0, 2):
        for name, tensor in first[run].items():
            assert torch.equal(tensor, second[run][name]), (run, name)


def test_only_who_needs_them_keeps_initial_states() -> None:
    batch = _train([Run(tiny(), HALF, 0)], iterations=1)
    assert batch.collector.initial is None
    assert "initial" not in tensors_of(batch)


def test_parts_of_a_population_are_not_noticed() -> None:
    runs = [Run(tiny(), HALF, seed) for seed in range(5)]
    whole, parts = _train(runs, chunk=8), _train(runs, chunk=2)
    torch.testing.assert_close(whole.actor.params, parts.actor.params, rtol=1e-3, atol=1e-4)


def test_the_six_stch_rows_share_a_population_and_keep_their_smoothness() -> None:
    recipes = [row for name, row in ROWS["baselines"].items() if name.startswith("STCH")]
    batch = _train([Run(tiny(recipe), HALF, 0) for recipe in recipes], iterations=1)
    assert batch.mu.tolist() == pytest.approx([0.01, 0.1, 0.5, 1.0, 5.0, 10.0])
    assert batch.conflict.tolist() == [0.0] * 6


def test_numbers_of_the_recipe_reach_their_run() -> None:
    runs = [Run(tiny(learning_rate=1e-9), HALF, 0), Run(tiny(learning_rate=1e-2), HALF, 0)]
    batch = Batch(runs, toy(), Settings(total_steps=640, num_envs=4))
    before = batch.actor.params.clone()
    batch.iterate()
    moved = (batch.actor.params - before).abs().amax(-1)
    assert moved[0] < 1e-6
    assert moved[1] > 1e-3


def test_the_learning_rate_falls_in_a_straight_line_or_stays() -> None:
    runs = [Run(tiny(learning_rate=1e-3, learning_rate_decay=share), HALF, 0) for share in (0.0, 0.5, 1.0)]
    batch = Batch(runs, toy(), Settings(total_steps=256, num_envs=4))
    rates = []
    for _ in range(4):
        rates.append(batch.learning_rate())
        batch.iterate()
    expected = torch.tensor([[1, 1, 1], [1, 0.875, 0.75], [1, 0.75, 0.5], [1, 0.625, 0.25]]) * 1e-3
    torch.testing.assert_close(torch.stack(rates), expected)
    assert torch.equal(torch.stack(rates)[:, 0], torch.full((4,), 1e-3))  # bit by bit as without a decay
    torch.testing.assert_close(batch.learning_rate(), torch.tensor([1e-3, 5e-4, 0.0]))


def test_a_falling_learning_rate_reaches_the_update() -> None:
    def moved(share: float) -> float:
        run = Run(tiny(learning_rate=1e-2, learning_rate_decay=share), HALF, 0)
        batch = _train([run], iterations=4, total_steps=256)
        before = batch.actor.params.clone()
        batch.iterate()  # the steps are over: nothing is left of the rate
        return float((batch.actor.params - before).abs().max())

    assert moved(1.0) == 0.0
    assert moved(0.0) > 1e-3


@pytest.mark.parametrize("place", ["reward", "observation"])
def test_a_failing_run_stops_and_the_others_do_not_notice(place: str) -> None:
    runs = [Run(tiny(), HALF, seed) for seed in range(3)]
    sick = Batch(runs, poisoned(1, 4, after=20, place=place), Settings(total_steps=640, num_envs=4))
    well = Batch(runs, poisoned(1, 4, after=10**9, place=place), Settings(total_steps=640, num_envs=4))
    failures = []
    for number in range(4):
        before = sick.actor.params[1].clone()
        failures.append(sick.iterate().failed)
        assert well.iterate().failed == {}
        if number:
            assert torch.equal(sick.actor.params[1], before)
    assert failures == [{}, {1: place}, {}, {}]
    assert sick.alive.tolist() == [True, False, True]
    for run in (0, 2):
        for name, tensor in _own(well, run).items():
            assert torch.equal(tensor, _own(sick, run)[name]), name


def test_exploding_parameters_are_found() -> None:
    runs = [Run(tiny(learning_rate=1e30), HALF, 0), Run(tiny(), HALF, 0)]
    batch = Batch(runs, toy(), Settings(total_steps=640, num_envs=4))
    failed = [batch.iterate().failed for _ in range(2)]
    assert 0 in (failed[0] | failed[1])
    assert batch.alive.tolist() == [False, True]
    assert bool(batch.actor.params.isfinite().all())


def _with(**slots: Any) -> Recipe:
    """Return PASTA with other slots, which may be live modules."""
    return replace(PASTA, **slots)


class OwnScheduler(Fixed):
    pass


OwnSchedulerSpec = spec(OwnScheduler)


@pytest.mark.parametrize(
    "recipe",
    [
        _with(combiner=PCGrad()),
        replace(PASTA, combiner=specs.TorchJD("UPGradWeighting")),
        _with(mu=Fixed(2.0)),
        replace(PASTA, mu=OwnSchedulerSpec(2.0)),
        _with(scalarizer=Linear(), combiner=specs.WeightedSum()),
        _with(critic=SharedCritic(4, 2, hidden=8, activation=torch.nn.ReLU)),
    ],
    ids=["live combiner", "TorchJD", "live scheduler", "own scheduler", "live scalarizer", "live critic"],
)
def test_blocks_that_cannot_be_stacked_are_called_run_by_run(recipe: Recipe) -> None:
    runs = [Run(tiny(recipe), HALF, seed) for seed in range(3)]
    batch = _train(runs, iterations=2, chunk=2)
    assert bool(batch.alive.all())
    assert bool(batch.actor.params.isfinite().all())
    assert not torch.equal(batch.actor.params[0], batch.actor.params[1])


def test_a_live_scalarizer_with_its_own_scheduler_is_stepped() -> None:
    live = AdaptiveSmoothTchebycheff(ConflictBraked(LinearDecay(10.0, 1.0), smoothing=1.0))
    batch = _train([Run(tiny(_with(scalarizer=live)), HALF, seed) for seed in range(2)], iterations=4)
    spec = replace(PASTA, mu=specs.ConflictBraked(base=specs.LinearDecay(10.0, 1.0), smoothing=1.0))
    expected = _train([Run(tiny(spec), HALF, seed) for seed in range(2)], iterations=4)
    assert bool((batch.mu < 10).all())
    torch.testing.assert_close(batch.mu, expected.mu)


def test_a_failing_gramian_reaches_no_other_run_through_a_looped_combiner() -> None:
    runs = [Run(tiny(replace(PASTA, combiner=specs.TorchJD())), HALF, seed) for seed in range(2)]
    batch = Batch(runs, poisoned(1, 4, after=5, place="reward"), Settings(total_steps=640, num_envs=4))
    assert batch.iterate().failed == {1: "reward"}
    assert bool(batch.actor.params.isfinite().all())


def test_normalized_targets_train_the_critic_in_the_unit_interval() -> None:
    recipe = tiny()
    recipe = replace(recipe, ppo=replace(recipe.ppo, normalize_targets=True, learning_rate=1e-2))
    batch = _train([Run(recipe, HALF, 0)], iterations=5)
    rollout = batch.collector.collect(batch.actor.params, torch.zeros(1, 16, 4, 2), None)
    values = batch.learner.critic.values(batch.critic.params, rollout.inputs.flatten(1, 2))
    assert -0.5 < float(values.min()) <= float(values.max()) < 1.5
    assert float(batch.normalizer.high.max()) > 3  # while raw returns are larger


def test_observation_statistics_are_per_run() -> None:
    source = replace(toy(), normalize_observations=True)
    batch = _train([Run(tiny(), HALF, seed) for seed in range(2)], source=source)
    assert batch.scale is not None
    assert not torch.equal(batch.scale.mean[0], batch.scale.mean[1])
    inputs = batch.collector.inputs(batch.collector.observation, batch.collector.preferences, batch.scale)
    assert float(inputs[..., :4].abs().max()) <= 10


def test_bad_settings_are_named() -> None:
    runs = [Run(tiny(), HALF, 0)]
    quick, other = Settings(total_steps=64, num_envs=4), Run(tiny(ROWS["baselines"]["Linear"]), HALF, 0)
    refused("`num_envs` must divide steps_per_iteration", Batch, runs, toy(), Settings(total_steps=64, num_envs=5))
    refused("`runs` must hold at least one run", Batch, [], toy(), quick)
    refused("`runs` must differ in scalarizer, mu", Batch, [*runs, other], toy(), quick)
    refused("`preferences` must hold 2 numbers", Batch, [Run(tiny(), (0.2, 0.3, 0.5), 0)], toy(), quick)


def test_a_live_attention_weighted_critic_is_weighted() -> None:
    def loss(critic: object) -> torch.Tensor:
        torch.manual_seed(0)
        recipe = _with(critic=critic, mu=specs.Fixed(0.01))
        batch = Batch([Run(tiny(recipe), (0.1, 0.9), 0)], toy(), Settings(total_steps=128, num_envs=4))
        return batch.iterate().metrics["loss_value"]

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
def test_the_reported_smoothness_is_the_one_in_use(scalarizer: object, expected: float) -> None:
    recipe = tiny(_with(scalarizer=scalarizer, mu=specs.Fixed(2.0)))
    batch = Batch([Run(recipe, HALF, seed) for seed in range(2)], toy(), Settings(total_steps=64, num_envs=4))
    torch.testing.assert_close(batch.mu, torch.full((2,), expected), equal_nan=True)
