"""Runs of a store are found by name, and their policies act as they were trained."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from morl_blocks import schedulers
from morl_blocks.ppo import UnitBoxGaussianActor, unit_box_to_action
from morl_envs.toy import toy
from morl_recipes import PASTA, PPO, train
from morl_recipes.common.errors import StoreError
from morl_recipes.evaluation.saved_policy import SavedPolicy, acting
from morl_recipes.recipe.spec import KINDS, AnySpec, Spec, as_spec
from morl_recipes.recipe.specs import Actor
from morl_recipes.running.play import play
from morl_recipes.running.result import TrainResult
from morl_recipes.running.stored_runs import find_run, load_policy, match_runs
from morl_recipes.running.test_scores import test_store as play_store
from morl_recipes.store.frames import load_runs
from morl_recipes.store.run_folder import read_tests
from morl_recipes.store.store import Store
from tests.morl_recipes.running.actors import OWN
from tests.refusals import refused

RUNS = ["e.baselines.linear.0.20-0.80.s0.aa", "e.ours.linear-vector.0.20-0.80.s0.bb", "e.ours.sum.0.20-0.80.s1.cc"]


@pytest.mark.parametrize(
    ("name", "index"),
    [
        (RUNS[0], 0),
        ("linear", 0),
        ("baselines.linear", 0),
        ("linear-vector", 1),
        ("linear-v", 1),
        ("sum.0.20", 2),
        ("Linear", 0),
        ("baselines/Linear", 0),
        ("(Sum)", 2),
    ],
)
def test_whole_parts_come_before_pieces(name: str, index: int) -> None:
    assert match_runs(name, RUNS) == [RUNS[index]]


def test_name_of_a_method_matches_all_of_its_runs() -> None:
    seeds = [f"e.baselines.pasta-ours.0.20-0.80.s{seed}.aa" for seed in range(3)]
    for name in ("PASTA", "PASTA (Ours)", "baselines/PASTA (Ours)"):  # as tables and `diff` print it
        assert match_runs(name, [*seeds, *RUNS]) == seeds


def test_best_of_several_matching_runs_is_chosen(make_store: Callable[..., Store]) -> None:
    store = make_store()
    runs = load_runs(store)
    for name, own in (("LINEAR", runs[runs["method"] == "Linear"]), (None, runs)):
        assert find_run(store, name)["run_id"] == own.sort_values("peak_hv")["run_id"].iloc[-1]


@pytest.mark.parametrize("name", ["Linear", "baselines.linear", None])
def test_damage_is_said_where_nothing_else_has_the_name(make_store: Callable[..., Store], name: str | None) -> None:
    store = make_store()
    for run_id in store.run_ids():
        if name is None or ".linear." in run_id:
            (store.path / "runs" / run_id / "run.json").write_text("{")
    with pytest.raises(StoreError, match=r"run\.json"):
        find_run(store, name)
    if name is not None:
        assert "pasta" in find_run(store)["run_id"]


def test_error_shortens_long_lists_of_runs() -> None:
    many = [f"e.g.m{index}.s0" for index in range(40)]
    with pytest.raises(
        ValueError, match=r"which is part of 40 runs: .* and 35 more \(the folders in FOLDER/runs\)"
    ) as refusal:
        match_runs("s0", many)
    assert len(str(refusal.value)) < 250
    refused(r"unknown run '\?\?'. Known: .* and 35 more", match_runs, "??", many)
    refused(r"unknown run 'e.ours.smu.0.20-0.80'. Nearest: e.ours.sum", match_runs, "e.ours.smu.0.20-0.80", RUNS)


LOW, HIGH = torch.tensor([-1.0, 0.0]), torch.tensor([1.0, 4.0])


def _trained(folder: Path, actor: AnySpec, mu: AnySpec | None = PASTA.mu, test_episodes: int = 0) -> TrainResult:
    recipe = replace(PASTA, actor=actor, mu=mu, ppo=PPO(steps_per_iteration=64, epochs=1))
    options: dict[str, Any] = {"num_envs": 4, "eval_episodes": 1, "progress": False, "test_episodes": test_episodes}
    return train(recipe, toy(), [[0.5, 0.5]], seeds=[0], total_steps=64, out=folder, **options)


def test_observations_are_scaled_as_in_training() -> None:
    actor = UnitBoxGaussianActor(3, 2, 2, hidden=8)
    scale = {"observation_mean": torch.tensor([1.0, 2.0, 3.0]), "observation_variance": torch.tensor([4.0, 1.0, 1e-12])}
    policy = SavedPolicy({**actor.state_dict(), **scale}, 2, LOW, HIGH)
    plain = SavedPolicy(actor.state_dict(), 2, LOW, HIGH)
    preference = torch.tensor([[0.5, 0.5]])
    seen = policy(torch.tensor([[3.0, 2.5, 99.0]]), preference)
    torch.testing.assert_close(seen, plain(torch.tensor([[1.0, 0.5, 10.0]]), preference))  # the last one is clipped


def test_acting_policy_follows_its_preference() -> None:
    policy, observation = SavedPolicy(UnitBoxGaussianActor(4, 2, 2).state_dict(), 2, LOW, HIGH), torch.randn(1, 4)
    one, other = (acting(policy, weights)(observation) for weights in ((1.0, 0.0), (0.0, 1.0)))
    assert torch.equal(one, policy(observation, torch.tensor([[1.0, 0.0]])))
    assert not torch.equal(one, other)


def test_foreign_tensors_are_refused_without_building_their_network() -> None:
    tensors = {**UnitBoxGaussianActor(4, 2, 2).state_dict(), "extra": torch.zeros(1)}
    wide = {"trunk.0.weight": torch.zeros(200_000, 4), "mean.bias": torch.zeros(2)}  # its second layer has 160 GB
    for own, message in ((tensors, "Unexpected key"), (wide, "Missing key")):
        with pytest.raises(RuntimeError, match=message):
            SavedPolicy(own, 2, LOW, HIGH)


@pytest.mark.parametrize("actor", [Actor(activation="ReLU", depth=1, hidden=8), OWN], ids=repr)
@pytest.mark.parametrize("live", [False, True])
def test_stored_actor_plays_and_tests_as_it_was_trained(actor: Spec, live: bool, tmp_path: Path) -> None:
    """Also beside a live block, with which a recipe is kept as text."""
    mu = as_spec(schedulers.Fixed(2.0)) if live else PASTA.mu
    result = _trained(tmp_path / "store", actor, mu, test_episodes=3)
    env: Any = toy().make(1, [0])
    observation, preference = torch.randn(5, env.observation_dim), torch.tensor([[0.5, 0.5]])
    trained = actor.build(env.observation_dim, 2, env.action_dim)
    trained.load_state_dict(result.runs[0].peak_policy)
    mode = trained.mode(trained(observation, preference.expand(5, 2)))
    store = Store.open(tmp_path / "store")
    for policy in (result.policy(0), load_policy(store, find_run(store), "peak", env)):
        expected = unit_box_to_action(mode, env.action_low, env.action_high)
        torch.testing.assert_close(policy(observation, preference), expected)
    (run,) = store.run_ids()
    before = store.read(run)["test_peak"]
    play_store(store, 4, progress=False, env=toy())
    play_store(store, 3, progress=False, env=toy())
    assert read_tests(store.folder(run), store.read(run))["test_peak"] == before


def test_actor_of_a_file_that_was_not_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _trained(tmp_path / "store", OWN)
    monkeypatch.delitem(KINDS, "Own")
    with pytest.raises(StoreError, match=r"in Python, import the file that defines it, .*, got Own"):
        play(tmp_path / "store", env=toy(), episodes=1)


def test_live_actor_is_refused_and_not_taken_for_another(tmp_path: Path) -> None:
    _trained(tmp_path / "store", as_spec(UnitBoxGaussianActor(4, 2, 2, activation=nn.ReLU)))
    for ask in (play, play_store):
        with pytest.raises(StoreError, match=r"`actor` must be a spec to be played .*got a live UnitBoxGaussianActor"):
            ask(tmp_path / "store", env=toy(), episodes=2)
