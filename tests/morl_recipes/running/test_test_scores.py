"""The test score, when a run ends and from a store."""

import itertools
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from morl_envs.source import EnvSource
from morl_envs.toy import ToyBatch, toy
from morl_recipes import train
from morl_recipes.common.errors import StoreError
from morl_recipes.evaluation.episodes import held_out_returns
from morl_recipes.running import test_scores as testing
from morl_recipes.running.test_scores import Outcome
from morl_recipes.running.test_scores import test_store as play_store
from morl_recipes.store.files import seal
from morl_recipes.store.frames import load_runs
from morl_recipes.store.store import Store
from tests.morl_recipes.running.fakes import contents
from tests.morl_recipes.worlds import tiny
from tests.refusals import refused

EPISODES = 5


def _train(folder: Path | None, *, episodes: int) -> Any:
    pairs: Any = {"preferences": [[0.5, 0.5], [0.8, 0.2]], "seeds": [0, 1], "total_steps": 192, "num_envs": 4}
    options: Any = {"eval_every": 1, "eval_episodes": 2, "test_episodes": episodes, "progress": False}
    return train(tiny(), toy(), **pairs, out=folder, **options)


def _test(store: Any, episodes: int = EPISODES, **options: Any) -> Outcome:
    return play_store(store, episodes, **{"progress": False, "env": toy(), **options})


@pytest.fixture(scope="module")
def untested(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Four runs of a training without a test, and their store."""
    folder = tmp_path_factory.mktemp("runs")
    return _train(folder / "store", episodes=0), folder / "store"


@pytest.fixture
def store(untested: Any, tmp_path: Path) -> Store:
    """A copy of this store."""
    return Store.open(shutil.copytree(untested[1], tmp_path / "store"))


@pytest.fixture(scope="module")
def tested() -> Any:
    """The same training, with its test."""
    return _train(None, episodes=EPISODES)


def _columns(store: Store) -> Any:
    frame = load_runs(store)
    return frame[[name for name in frame.columns if name.startswith("test_")]]


def test_test_does_not_depend_on_neighbours_and_changes_nothing_else(tested: Any, untested: Any) -> None:
    for index in (3, 1):
        expected, run = tested.runs[index], replace(untested[0].runs[index], recipe=tiny())
        assert run.test_peak is run.test_final is None
        assert expected.test_peak["eu"] == pytest.approx(np.dot(run.preference, expected.test_peak["returns"]))
        (alone,) = testing.with_tests([run], tiny(), toy(), EPISODES)
        assert (alone.test_peak, alone.test_final) == (expected.test_peak, expected.test_final)
        assert alone.history.equals(expected.history)
        assert all(torch.equal(tensor, expected.policy[name]) for name, tensor in alone.policy.items())


def test_store_gets_the_scores_that_the_training_would_have_written(tmp_path: Path, store: Store) -> None:
    before = contents(store.path)
    done = _test(store)
    assert (len(done.tested), done.there) == (4, ())
    after = contents(store.path)
    assert {name: after[name] for name in before} == before
    assert all(name.endswith("/test.json") for name in set(after) - set(before))
    _train(tmp_path / "tested", episodes=EPISODES)
    expected = _columns(Store.open(tmp_path / "tested"))
    assert expected.notna().all(axis=None)
    assert _columns(store).equals(expected)


def test_interrupted_test_continues(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing, "AT_ONCE", 2 * EPISODES)  # one run at a time
    play, calls = held_out_returns, itertools.count(1)

    def stop(*arguments: Any) -> Any:
        if next(calls) == 3:
            raise KeyboardInterrupt
        return play(*arguments)

    monkeypatch.setattr(testing, "held_out_returns", stop)
    with pytest.raises(KeyboardInterrupt):
        _test(store)
    for episodes, tested, there in ((EPISODES, 2, 2), (EPISODES, 0, 4), (EPISODES + 1, 4, 0)):
        done = _test(store, episodes)
        assert (len(done.tested), len(done.there)) == (tested, there)
    assert set(_columns(store)["test_peak_episodes"]) == {EPISODES + 1}


def test_damaged_policy_costs_its_own_run_alone(store: Store) -> None:
    first, *others = store.run_ids()
    path = store.path / "runs" / first / "policy.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(StoreError, match=r"1 of 4 runs could not be tested, the others were\. .*damaged"):
        _test(store)
    tests = load_runs(store).set_index("run_id")["test_peak_episodes"]
    assert tests[others].eq(EPISODES).all()
    assert np.isnan(tests[first])


def test_store_with_nothing_to_test_is_refused(make_store: Any, tmp_path: Path) -> None:
    everything = frozenset((m, p, s) for m in ("PASTA (Ours)", "Linear") for p in range(2) for s in range(3))
    with pytest.raises(StoreError, match=r"no run can be tested\. .*has no such file"):
        _test(make_store())
    shutil.rmtree(tmp_path / "store")
    with pytest.raises(StoreError, match=r"no finished run yet\. Nothing to test"):
        _test(make_store(skip=everything))
    with pytest.raises(StoreError, match="not a result store"):
        _test(tmp_path)
    refused("`episodes` must be a whole number >= 1, got 0", _test, tmp_path, 0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"objectives": 3, "action_dim": 3}, "had the objectives .* Use the version that trained it; nothing was"),
        ({"observation_dim": 7}, "the policies do not fit toy as it is here .* nothing was changed"),
        ({"action_dim": 3}, "the policies do not fit toy as it is here .* nothing was changed"),
    ],
)
def test_another_environment_is_refused(store: Store, changes: dict[str, int], words: str) -> None:
    before = contents(store.path)
    with pytest.raises(StoreError, match=words):
        _test(store, env=EnvSource("toy", lambda count, seeds: ToyBatch(count, seeds, **changes)))
    assert contents(store.path) == before


def _set_versions(store: Store, run_id: str, versions: dict[str, str]) -> None:
    path = store.path / "runs" / run_id / "run.json"
    path.write_bytes(seal({**json.loads(path.read_text()), "versions": versions}))


def test_run_of_other_dynamics_needs_consent(store: Store) -> None:
    first, *_ = store.run_ids()
    _set_versions(store, first, {"gymnasium": "0.1"})
    words = r"1 of 4 runs could not be tested, the others were.*\(gymnasium 0\.1, here .*--accept-versions"
    with pytest.raises(StoreError, match=words):
        _test(store)
    assert _test(store, accept_versions=True).tested == (first,)
    for run_id in store.run_ids():  # without versions of their own, they had those of the sweep
        _set_versions(store, run_id, {})
    versions = {**store.manifest.versions, "gymnasium": "0.1"}
    with pytest.raises(StoreError, match=r"no run can be tested.*\(gymnasium 0\.1, here "):
        _test(Store(store.path, replace(store.manifest, versions=versions)), EPISODES + 1)


def test_test_that_is_damaged_or_of_another_run_is_refused(store: Store) -> None:
    _test(store)
    first, second, *_ = store.run_ids()
    mine, other = (store.path / "runs" / name / "test.json" for name in (first, second))
    kept = mine.read_bytes()
    fields = json.loads(kept)
    unsealed = {name: value for name, value in fields.items() if name != "digest"}
    for content, message in (
        (other.read_bytes(), r"test\.json: belongs to another run .* Remove the file .*test\.json: `morl-blocks"),
        (kept.replace(str(fields["test_peak"]["hv"]).encode(), b"0.9"), r"test\.json: damaged \(its digest"),
        (seal({**unsealed, "policy": "another"}), "belongs to another run"),
    ):
        mine.write_bytes(content)
        with pytest.raises(StoreError, match=message):
            load_runs(store)
    mine.write_bytes(kept)
    assert _columns(store).notna().all(axis=None)
