"""The test score, when a run ends and from a store."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from morl_envs.source import EnvSource, find_source
from morl_envs.toy import ToyBatch, toy
from morl_recipes import Recipe, train
from morl_recipes.common.errors import StoreError
from morl_recipes.evaluation.episodes import held_out_returns
from morl_recipes.running import test_scores as testing
from morl_recipes.running.test_scores import test_store as play_store
from morl_recipes.store.files import seal
from morl_recipes.store.frames import load_runs
from morl_recipes.store.store import Store
from tests.morl_recipes.worlds import tiny
from tests.refusals import refused

EPISODES = 5


def _train(folder: Path | None, *, episodes: int, seeds: tuple[int, ...] = (0, 1), recipe: Recipe | None = None) -> Any:
    return train(
        recipe or tiny(),
        toy(),
        [[0.5, 0.5], [0.8, 0.2]],
        seeds=list(seeds),
        total_steps=192,
        out=folder,
        num_envs=4,
        eval_every=1,
        eval_episodes=2,
        test_episodes=episodes,
        progress=False,
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Four runs of a training without a test."""
    _train(tmp_path / "store", episodes=0)
    return Store.open(tmp_path / "store")


def _files(store: Store) -> dict[str, bytes]:
    return {str(p.relative_to(store.path)): p.read_bytes() for p in sorted(store.path.rglob("*")) if p.is_file()}


def _columns(store: Store) -> Any:
    frame = load_runs(store)
    return frame[[name for name in frame.columns if name.startswith("test_")]]


def test_a_training_ends_with_its_test(tmp_path: Path) -> None:
    result = _train(None, episodes=EPISODES)
    run = result.runs[1]
    assert run.test_peak["episodes"] == run.test_final["episodes"] == EPISODES
    assert run.test_peak["eu"] == pytest.approx(np.dot(run.preference, run.test_peak["returns"]))
    assert run.test_peak["hv_se"] > 0
    assert result.summary()["test_final_hv"].notna().all()
    stored = _train(tmp_path / "store", episodes=EPISODES)
    assert stored.runs[1].test_peak == {
        **run.test_peak,
        **{k: list(run.test_peak[k]) for k in ("returns", "returns_se")},
    }
    assert Store.open(tmp_path / "store").read(load_runs(tmp_path / "store")["run_id"][0])["test_peak"] is not None


def test_without_episodes_there_is_no_test() -> None:
    assert all(run.test_peak is None for run in _train(None, episodes=0).runs)


def test_the_test_does_not_depend_on_neighbours_and_changes_nothing_else() -> None:
    tested, untested = (_train(None, episodes=episodes) for episodes in (EPISODES, 0))
    for index in (3, 1):
        (alone,) = testing.with_tests([untested.runs[index]], tiny(), toy(), EPISODES)
        assert alone.test_peak == tested.runs[index].test_peak
        assert alone.test_final == tested.runs[index].test_final
        assert alone.history.equals(tested.runs[index].history)
        assert all(torch.equal(t, tested.runs[index].policy[name]) for name, t in alone.policy.items())


def test_a_store_gets_the_scores_that_the_training_would_have_written(tmp_path: Path, store: Store) -> None:
    before = _files(store)
    done = play_store(store, EPISODES, progress=False, env=toy())
    assert (len(done.tested), done.there) == (4, ())
    after = _files(store)
    assert {name: after[name] for name in before} == before
    assert all(name.endswith("/test.json") for name in set(after) - set(before))
    _train(tmp_path / "tested", episodes=EPISODES)
    expected = _columns(Store.open(tmp_path / "tested"))
    assert expected.notna().all(axis=None)
    assert _columns(store).equals(expected)


def test_a_stored_policy_of_the_robot_plays_its_score_again_to_the_last_bit(tmp_path: Path) -> None:
    train(
        *(tiny(), "stealth", [[0.5, 0.3, 0.2], [0.1, 0.7, 0.2]]),
        seeds=[3],
        total_steps=64,
        num_envs=4,
        out=tmp_path / "store",
        eval_episodes=1,
        test_episodes=8,
        compile=False,
        progress=False,
    )
    store = Store.open(tmp_path / "store")
    for run in store.manifest.runs:  # alone, where the training played all policies together
        both = {point: {} for point in ("peak", "final")}  # type: dict[str, dict[str, torch.Tensor]]
        for name, tensor in store.policy(run.run_id).items():
            point, _, parameter = name.partition(".")
            both[point][parameter] = tensor
        stored = store.read(run.run_id)
        for point, tensors in both.items():
            own = [tensors], [run.seed], [run.preference]
            (returns,) = held_out_returns(tiny(), *own, find_source("stealth"), 8)
            mean = returns.double().mean(0).tolist()
            assert mean == stored[f"test_{point}"]["returns"]


def test_it_goes_on_where_it_stopped(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing, "AT_ONCE", 2 * EPISODES)  # one run at a time
    play, calls = held_out_returns, list[Any]()

    def stop(*arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return play(*arguments)

    monkeypatch.setattr(testing, "held_out_returns", stop)
    with pytest.raises(KeyboardInterrupt):
        play_store(store, EPISODES, progress=False, env=toy())
    done = play_store(store, EPISODES, progress=False, env=toy())
    assert (len(done.tested), len(done.there)) == (2, 2)
    again = play_store(store, EPISODES, progress=False, env=toy())
    assert (again.tested, len(again.there)) == ((), 4)
    more = play_store(store, EPISODES + 1, progress=False, env=toy())
    assert len(more.tested) == 4
    assert set(_columns(store)["test_peak_episodes"]) == {EPISODES + 1}


def test_a_damaged_policy_costs_its_own_run_alone(store: Store) -> None:
    first, *others = store.run_ids()
    path = store.path / "runs" / first / "policy.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(StoreError, match=r"1 of 4 runs could not be tested, the others were\. .*damaged"):
        play_store(store, EPISODES, progress=False, env=toy())
    tests = load_runs(store).set_index("run_id")["test_peak_episodes"]
    assert tests[others].eq(EPISODES).all()
    assert np.isnan(tests[first])


def test_a_store_without_policies_says_so(make_store: Any) -> None:
    with pytest.raises(StoreError, match=r"no run can be tested\. .*has no such file"):
        play_store(make_store(), EPISODES, progress=False)


def test_a_store_without_runs_says_so(make_store: Any, sweep_type: Any) -> None:
    everything = frozenset((m, p, s) for m in ("PASTA (Ours)", "Linear") for p in range(2) for s in range(3))
    with pytest.raises(StoreError, match=r"no finished run yet\. Nothing to test"):
        play_store(make_store(sweep_type(skip=everything)), progress=False)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"objectives": 3, "action_dim": 3},
            "had the objectives .* Use the version that trained it; nothing was changed",
        ),
        ({"observation_dim": 7}, "the policies do not fit toy as it is here .* nothing was changed"),
        ({"action_dim": 3}, "the policies do not fit toy as it is here .* nothing was changed"),
    ],
)
def test_another_environment_is_refused(store: Store, changes: dict[str, int], words: str) -> None:
    before = _files(store)
    other = EnvSource("toy", lambda count, seeds: ToyBatch(count, seeds, **changes))
    with pytest.raises(StoreError, match=words):
        play_store(store, EPISODES, progress=False, env=other)
    assert _files(store) == before


def _tell(store: Store, run_id: str, versions: dict[str, str]) -> None:
    path = store.path / "runs" / run_id / "run.json"
    path.write_bytes(seal({**json.loads(path.read_text()), "versions": versions}))


def test_other_versions_of_the_dynamics_are_refused_unless_accepted(store: Store) -> None:
    first, *_ = store.run_ids()
    _tell(store, first, {"gymnasium": "0.1"})
    words = (
        r"1 of 4 runs could not be tested, the others were.*other versions \(gymnasium 0\.1, here .*--accept-versions"
    )
    with pytest.raises(StoreError, match=words):
        play_store(store, EPISODES, progress=False, env=toy())
    assert play_store(store, EPISODES, progress=False, env=toy(), accept_versions=True).tested == (first,)


def test_a_run_that_does_not_tell_its_versions_had_those_of_the_sweep(store: Store) -> None:
    for run_id in store.run_ids():
        _tell(store, run_id, {})
    versions = {**store.manifest.versions, "gymnasium": "0.1"}
    older = Store(store.path, replace(store.manifest, versions=versions))
    with pytest.raises(StoreError, match=r"no run can be tested.*\(gymnasium 0\.1, here "):
        play_store(older, EPISODES, progress=False, env=toy())
    assert len(play_store(older, EPISODES, progress=False, env=toy(), accept_versions=True).tested) == 4


def test_a_test_that_is_damaged_or_of_another_run_is_not_read(store: Store) -> None:
    play_store(store, EPISODES, progress=False, env=toy())
    first, second, *_ = store.run_ids()
    mine, other = (store.path / "runs" / name / "test.json" for name in (first, second))
    kept = mine.read_bytes()
    shutil.copy(other, mine)
    with pytest.raises(
        StoreError, match=r"test\.json: belongs to another run .* Remove the file .*test\.json: `morl-blocks"
    ):
        load_runs(store)
    fields = json.loads(kept)
    mine.write_bytes(kept.replace(str(fields["test_peak"]["hv"]).encode(), b"0.9"))
    with pytest.raises(StoreError, match=r"test\.json: damaged \(its digest does not match\)"):
        load_runs(store)
    fields.pop("digest")
    mine.write_bytes(seal({**fields, "policy": "another"}))
    with pytest.raises(StoreError, match="belongs to another run"):
        load_runs(store)
    mine.write_bytes(kept)
    assert _columns(store).notna().all(axis=None)


def test_bad_input_raises(tmp_path: Path) -> None:
    refused("`episodes` must be a whole number >= 1, got 0", play_store, tmp_path, 0)
    with pytest.raises(StoreError, match="not a result store"):
        play_store(tmp_path)
