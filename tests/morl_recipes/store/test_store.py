"""The store under kill, full disks, two writers and damage."""

import errno
import json
import multiprocessing
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from morl_recipes.common import atomic_files
from morl_recipes.common.errors import StoreError
from morl_recipes.recipe.run import Run
from morl_recipes.store.files import seal, unseal
from morl_recipes.store.frames import load_both, load_history, load_record, load_runs
from morl_recipes.store.manifest import EnvInfo, Manifest, make_run_id
from morl_recipes.store.record import RunRecord
from morl_recipes.store.run_folder import read_content, read_tests
from morl_recipes.store.store import Store
from tests.refusals import refused, store_refused

INFO = {"toy": EnvInfo(("speed", "energy"), (0.0, 0.0), (1.0, 2.0))}
VERSIONS = {"morl-blocks": "0.1.0"}
FORK = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def planned(count: int = 3) -> tuple[Run, ...]:
    return tuple(Run({"clip": 0.2}, (0.5, 0.5), i, f"r{i}", "g", "M", "toy", 100) for i in range(count))


def manifest(count: int = 3, **changes: Any) -> Manifest:
    fields: dict[str, Any] = {"command": "c", "environments": INFO, "runs": planned(count), "versions": VERSIONS}
    return Manifest(**{**fields, **changes})


def record(run_id: str = "r0", **changes: Any) -> RunRecord:
    history = pd.DataFrame({"iteration": [0, 1], "steps": [50, 100], "mu": [0.1, 1 / 3], "return_0": [np.nan, 0.1]})
    point = {"iteration": 1, "steps": 100, "returns": (0.1, 0.2), "hv": 0.01, "eu": 0.15}
    seed = int(run_id.removeprefix("r"))
    fields = ("toy", (0.5, 0.5), seed, "done", "", 100, point, point, {"clip": 0.2}, history)
    made = RunRecord(run_id, "g", "M", *fields, {"w": torch.arange(6.0).reshape(2, 3).T})  # type: ignore[arg-type]
    return replace(made, **changes)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "s", manifest())


def snapshot(path: Path) -> dict[str, bytes]:
    return {str(item.relative_to(path)): item.read_bytes() for item in path.rglob("*") if item.is_file()}


def test_a_run_comes_back_as_it_went_in(store: Store) -> None:
    assert (load_runs(store).empty, load_history(store).empty, store.done()) == (True, True, set())
    assert "peak_1" in load_runs(store).columns
    assert store.write(record())
    assert store.done() == {"r0"}
    assert store.missing() == ["r1", "r2"]
    (store.path / "runs" / ".ipynb_checkpoints").mkdir()
    assert store.run_ids() == ["r0"]
    torch.testing.assert_close(store.policy("r0")["w"], torch.arange(6.0).reshape(2, 3).T)
    runs, history = load_runs(store.path), load_history(store)
    row = runs.iloc[0]
    assert row[["run_id", "group", "method", "env", "seed", "status"]].tolist() == ["r0", "g", "M", "toy", 0, "done"]
    assert row["preference"] == (0.5, 0.5)
    assert row[["peak_steps", "peak_hv", "peak_eu", "peak_0", "peak_1"]].tolist() == [100, 0.01, 0.15, 0.1, 0.2]
    assert history["mu"].tolist() == [0.1, 1 / 3]  # every bit of a float survives the text file
    assert history["return_0"].isna().tolist() == [True, False]
    assert history["preference"].tolist() == [(0.5, 0.5)] * 2


def test_a_record_is_read_as_it_was_written_and_one_that_failed_at_once_is_empty(store: Store) -> None:
    store.write(record())
    store.write(
        record("r1", status="failed", reason="no GPU", peak=None, final=None, history=pd.DataFrame(), policy={})
    )
    again = load_record(store, "r0")
    pd.testing.assert_frame_equal(again.history, record().history)
    torch.testing.assert_close(dict(again.policy), dict(record().policy))
    assert (again.preference, again.final) == (record().preference, record().final)
    assert not load_record(store, "r1").policy
    assert load_history(store)["run_id"].tolist() == ["r0", "r0"]
    assert load_runs(store)["status"].tolist() == ["done", "failed"]


def test_a_damaged_run_is_named_at_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write(record())
    (store.path / "runs" / "r0" / "run.json").write_text("{}")
    monkeypatch.setattr("time.sleep", lambda seconds: pytest.fail("nobody is writing it"))
    store_refused("no schema version", store.read, "r0")
    (store.path / "runs" / "r0" / "run.json").write_text("{")
    store_refused(r"run.json: .* Remove the folder .*/r0: the same sweep then trains", load_runs, store)


def test_a_test_belongs_to_its_run(store: Store) -> None:
    for run_id in ("r0", "r1"):
        store.write(record(run_id, policy={}))
    store.write_test("r0", {"test_peak": None, "test_final": None})
    shutil.copy(store.path / "runs" / "r0" / "test.json", store.path / "runs" / "r1")
    store_refused(r"belongs to another run \(r0\)", read_tests, store.folder("r1"), store.read("r1"))


def test_ids_and_digests_do_not_depend_on_the_order_of_fields(tmp_path: Path) -> None:
    one, other = (make_run_id("e", "g", "m", (1.0,), 0, recipe) for recipe in ({"a": 1, "b": 2}, {"b": 2, "a": 1}))
    assert one == other
    fields = json.loads(seal({"schema": 1, "a": 1}))
    (tmp_path / "f").write_text(json.dumps(dict(reversed(fields.items()))))
    assert unseal(tmp_path / "f", schema=1)["a"] == 1


def test_a_run_waits_for_the_disk_before_and_after_it_is_renamed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = list[str]()
    monkeypatch.setattr(atomic_files, "sync_folder", lambda path: synced.append(path.name.split(".")[0]))
    store.write(record())
    assert synced == ["r0", "runs"]


def test_frames_can_be_polars(store: Store) -> None:
    polars = pytest.importorskip("polars")
    empty = load_runs(store, frame="polars")
    store.write(record())
    store.write(record("r1", status="failed", reason="no GPU", peak=None, final=None, history=pd.DataFrame()))
    for load in (load_runs, load_history):
        ours, theirs = load(store), load(store, frame="polars")
        assert isinstance(theirs, polars.DataFrame)
        assert theirs.columns == list(ours.columns)
        for name in ours.columns:
            expected = [list(v) if isinstance(v, tuple) else v for v in ours[name]]
            assert repr(theirs[name].to_list()) == repr(expected)  # NaN included
    assert (theirs.schema["steps"], theirs.schema["preference"]) == (polars.Int64, polars.List(polars.Float64))
    assert empty.schema == load_runs(store, frame="polars").schema
    assert load_history(store, frame="polars")["mu"].to_list() == [0.1, 1 / 3]


def test_frames_of_a_missing_or_unknown_package_are_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"need the polars extra: pip install 'morl-blocks\[polars\]'"):
        load_runs(store, frame="polars")
    refused("`frame` must be 'pandas' or 'polars', got 'arrow'", load_history, store, frame="arrow")


def test_columns_are_the_union_over_runs_and_environments(tmp_path: Path) -> None:
    infos = {**INFO, "wide": EnvInfo(("a", "b", "c"))}
    runs = (planned(1)[0], Run({}, (0.2, 0.3, 0.5), 0, "w", "g", "M", "wide", 1))
    store = Store.create(tmp_path / "s", manifest(environments=infos, runs=runs))
    store.write(record())
    frame = pd.DataFrame({"iteration": [0], "steps": [1], "kappa": [0.5], "hv": [np.nan]})
    point = {"iteration": 0, "steps": 1, "returns": (1.0, 2.0, 3.0), "hv": float("nan"), "eu": 2.3}
    wide: tuple[Any, ...] = ("wide", (0.2, 0.3, 0.5), 0, "done", "", 1, point, point, {}, frame)
    store.write(RunRecord("w", "g", "M", *wide))
    assert load_runs(store).set_index("run_id")["peak_2"].isna().to_dict() == {"r0": True, "w": False}
    history = load_history(store)
    assert {"kappa", "mu", "hv"} <= set(history.columns)
    assert history["hv"].isna().all()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (manifest(versions={"morl-blocks": "9.9.9"}), "morl-blocks 9.9.9 instead of 0.1.0"),
        (manifest(environments={"toy": EnvInfo(("speed", "energy"))}), "environment toy.low None instead of .0.0"),
        (manifest(environments={**INFO, "b": INFO["toy"]}), r"\(with environment b\)"),
        (manifest(4), r"\(with seed 3\)"),
        (manifest(2), r"\(without seed 2\)"),
        (manifest(runs=[replace(run, recipe={"clip": 0.1}) for run in planned()]), "row g/M.clip 0.1 instead of 0.2"),
        (manifest(runs=[replace(run, run_id=f"n{run.seed}", steps=7) for run in planned()]), "total_steps 7 instead"),
        (manifest(runs=[replace(run, run_id=f"n{run.seed}") for run in planned()]), "other planned runs, first n0"),
        (manifest(runs=[replace(run, method="N") for run in planned()]), "with row g/N; without row g/M"),
    ],
)
def test_another_sweep_is_refused_and_the_same_one_keeps_its_runs(store: Store, other: Manifest, message: str) -> None:
    store.write(record())
    before = snapshot(store.path)
    store_refused(message, Store.create, store.path, other)
    assert snapshot(store.path) == before
    again = Store.create(store.path, manifest(command="another command line", created="later"))
    assert (again.done(), again.manifest.command) == ({"r0"}, "c")


def test_a_folder_of_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(StoreError, match=r"not a store and not empty \(it holds thesis.tex, but no manifest.json\)"):
        Store.create(tmp_path, manifest())
    store_refused(r"not a result store \(it has no manifest.json\)", Store.open, tmp_path)
    store_refused(r"nowhere: not a result store \(there is no such folder\)", Store.open, tmp_path / "nowhere")
    Store.create(tmp_path / "front" / "store", manifest())
    store_refused(r"it has no manifest.json; that of the front is .*front/store\)", Store.open, tmp_path / "front")


@pytest.mark.parametrize("content", [b'{"start_url": "/"}', seal({"schema": 99})])
def test_a_foreign_manifest_is_refused_before_anything_is_made(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    store_refused(r"manifest\.json: ", Store.create, tmp_path, manifest())
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_an_unfinished_creation_can_be_repeated_and_runs_without_a_manifest_are_not_adopted(store: Store) -> None:
    (store.path / "manifest.json").unlink()
    assert Store.create(store.path, manifest()).write(record())
    (store.path / "manifest.json").unlink()
    with pytest.raises(StoreError, match=r"not a store and not empty \(it holds runs, but no manifest.json\)"):
        Store.create(store.path, manifest())


def test_the_settings_and_files_of_a_sweep_are_kept_and_compared(tmp_path: Path) -> None:
    files = ({"path": "my_rows.py", "sha256": "a" * 64, "source": "MyRow = 1"},)
    runs = [replace(run, plugin="a" * 64) for run in planned()]
    settings = {"total_steps": 100, "num_envs": 8}
    store = Store.create(tmp_path / "s", manifest(runs=runs, training=settings, plugins=files))
    assert (store.manifest.training, store.manifest.plugins) == (settings, files)
    assert store.manifest.runs[0].plugin == "a" * 64
    others = [replace(run, run_id=f"n{run.seed}") for run in runs]
    with pytest.raises(StoreError, match=r"another sweep \(num_envs 4 instead of 8\). Choose another folder \(--out\)"):
        Store.create(store.path, manifest(runs=others, training={**settings, "num_envs": 4}))
    others = [replace(run, plugin="b" * 64) for run in others]
    with pytest.raises(StoreError, match=r"another sweep \(file of row g/M bbbbbbbb instead of aaaaaaaa\)"):
        Store.create(store.path, manifest(runs=others, training=settings))


def test_manifests_from_before_the_settings_were_kept_are_read(store: Store) -> None:
    path = store.path / "manifest.json"
    fields = json.loads(path.read_text())
    for name in ("training", "plugins"):
        del fields[name]
    for run in fields["runs"]:
        del run["plugin"]
    path.write_bytes(seal({**fields, "later": "field"}))
    now = [replace(run, plugin="a" * 64) for run in planned()]
    again = Store.create(store.path, manifest(runs=now, training={"num_envs": 8}))
    assert (again.manifest.training, again.manifest.plugins) == ({}, ())


def test_done_is_never_overwritten_and_failed_gives_way(store: Store) -> None:
    failed = record(status="failed", reason="worker lost", peak=None, final=None)
    assert store.write(failed)
    assert (store.failed(), store.done()) == ({"r0": "worker lost"}, set())
    assert store.write(replace(failed, reason="again"))
    assert store.failed() == {"r0": "again"}
    assert store.write(record(steps=7))
    assert not store.write(record(steps=8))
    assert not store.write(failed)
    assert store.read("r0")["steps"] == 7
    assert not list((store.path / "tmp").iterdir())
    refused("`run_id` must be one of the 3 planned runs, got 'r9'", store.write, record("r9"))


def test_histories_are_read_beside_damaged_test_scores(store: Store) -> None:
    store.write(record())
    before = load_history(store)
    (store.path / "runs" / "r0" / "test.json").write_text("{}")
    store_refused("test.json", load_runs, store)
    pd.testing.assert_frame_equal(load_history(store), before)


def test_run_with_a_damaged_history_is_marked_where_histories_are_read(store: Store) -> None:
    store.write(record())
    store.write(record("r1"))
    path = store.path / "runs" / "r0" / "history.csv"
    path.write_bytes(path.read_bytes()[:-1] + b"9")
    assert load_runs(store)["status"].tolist() == ["done", "done"]  # it reads no histories
    runs, history = load_both(store, ["mu"])
    assert runs["status"].tolist() == ["damaged", "done"]
    assert runs["peak_hv"].isna().tolist() == [True, False]
    assert "history.csv: damaged" in str(runs["reason"].iloc[0])
    assert set(history["run_id"]) == {"r1"}
    assert history.attrs["damaged"].keys() == {"r0"}


@pytest.mark.parametrize("name", ["run.json", "history.csv", "policy.safetensors"])
@pytest.mark.parametrize("damage", ["truncate", "flip", "remove"])
def test_damage_is_found_and_named(store: Store, name: str, damage: str) -> None:
    store.write(record())
    path = store.path / "runs" / "r0" / name
    content = path.read_bytes()
    middle = len(content) // 2
    path.unlink()
    if damage != "remove":
        rest = b"" if damage == "truncate" else bytes([content[middle] ^ 1]) + content[middle + 1 :]
        path.write_bytes(content[:middle] + rest)
    with pytest.raises(StoreError, match=name.replace(".", r"\.")):
        load_runs(store), load_history(store), store.policy("r0")
    with pytest.raises(StoreError, match=name.replace(".", r"\.")):  # noqa: PT012 - either may find it
        store.write(record())
        read_content(path.parent, store.read("r0"), name if name != "run.json" else "history.csv")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace('"command": "c"', '"command": "d"'), r"damaged \(.*\)\. Restore it from a copy, or"),
        (lambda text: text[: len(text) // 2], "not JSON"),
        (lambda text: "[]", "not a file of a morl-blocks store"),
        (lambda text: json.dumps({**json.loads(text), "schema": 99}), "has schema version 99, this version .* reads 1"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_refused(store: Store, change: Callable[[str], str], message: str) -> None:
    path = store.path / "manifest.json"
    path.write_text(change(path.read_text()))
    for read in (Store.open, lambda folder: Store.create(folder, manifest())):
        store_refused(rf"manifest\.json: .*{message}", read, store.path)


def test_a_full_disk_or_an_unwritable_folder_leaves_the_store_as_it_was(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        path.write_bytes(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    store.write(record())
    before, other = snapshot(store.path), store.path.parent / "other"
    monkeypatch.setattr(atomic_files, "create", full)
    store_refused(r"cannot write run r1 \(No space left on device\)", store.write, record("r1"))
    assert snapshot(store.path) == before
    store_refused(r"cannot be written \(No space left on device\)", Store.create, other, manifest())
    assert not (other / "manifest.json").exists()
    monkeypatch.setattr(Path, "mkdir", refuse)  # root may write everywhere, so a mode would not do
    store_refused(r"cannot be written \(Permission denied\)", Store.create, other, manifest())


def _hammer(path: str, worker: int, barrier: Any) -> None:
    store = Store.open(path)
    barrier.wait()
    for i in range(20):
        if (i + worker) % 3 == 0:
            store.write(record(f"r{i}", status="failed", reason=f"w{worker}", peak=None, final=None))
        store.done()
        store.write(record(f"r{i}", steps=1000 * worker + i))


@FORK
def test_writers_in_several_processes_cannot_corrupt_it(tmp_path: Path) -> None:
    path = tmp_path / "s"
    Store.create(path, manifest(20))
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(3)
    workers = [context.Process(target=_hammer, args=(str(path), k, barrier)) for k in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    store = Store.open(path)
    assert store.done() == {f"r{i}" for i in range(20)}
    assert len(load_history(store)) == 40
    assert not list((path / "tmp").iterdir())


def _write_forever(path: str) -> None:
    store = Store.open(path)
    big = pd.DataFrame({"iteration": range(3000), "steps": range(3000), "x": np.random.default_rng(0).random(3000)})
    for i in range(400):
        store.write(record(f"r{i}", history=big))


@FORK
def test_kill_9_leaves_only_whole_runs(tmp_path: Path) -> None:
    path = tmp_path / "s"
    Store.create(path, manifest(400))
    context = multiprocessing.get_context("fork")
    store = Store.open(path)
    for attempt in range(4):
        worker = context.Process(target=_write_forever, args=(str(path),))
        worker.start()
        while len(store.run_ids()) <= attempt:  # killed while it writes the next one
            time.sleep(0.003 + 0.001 * attempt)
        worker.kill()
        worker.join()
        assert store.done() == set(store.run_ids())
        assert len(load_history(store)) == 3000 * len(store.run_ids())
    assert store.remove_leftovers() == 0
    store.remove_leftovers(older_than=0.0)
    assert not list((path / "tmp").iterdir())


TABLE = {"iteration": [0], "steps": [1]}
POINT = {"iteration": 1, "steps": 1, "returns": (1.0, 1.0), "hv": 0.1, "eu": 0.1}


@pytest.mark.parametrize(
    ("make", "changes", "message"),
    [
        (record, {"status": "lost"}, "`status` must be 'done' or 'failed', got 'lost'"),
        (record, {"peak": None}, "`peak` and `final` must be given for a run that is done"),
        (record, {"peak": {**POINT, "returns": (1.0,)}}, "`peak` must have 2 returns, one per weight, got 1"),
        (record, {"final": {"iteration": 1}}, "`final` must have the fields .* got none named steps"),
        (record, {"history": pd.DataFrame({"iteration": [0]})}, "`history` must have the columns iteration and steps"),
        (record, {"history": pd.DataFrame({**TABLE, "note": ["x"]})}, "`history` must hold numbers, got column 'note'"),
        (record, {"history": pd.DataFrame({**TABLE, "steps": [np.nan]})}, "`history` must number every row"),
        (manifest, {"runs": (replace(planned(1)[0], run_id="../evil"),)}, "`run_id` must be 1 to 200 of"),
        (manifest, {"runs": (*planned(1), *planned(1))}, "`runs` must have distinct run ids, got 'r0' twice"),
        (manifest, {"environments": {}}, r"`environments` must describe 'toy', got \[\]"),
        (manifest, {"environments": {"toy": EnvInfo(("a",))}}, "`preference` must have one weight per objective"),
    ],
)
def test_bad_records_and_manifests_raise(make: Callable[..., object], changes: dict[str, Any], message: str) -> None:
    refused(message, make, **changes)
    store_refused("cannot be stored as JSON", record(recipe={"x": object()}).files)


def test_bounds_say_what_is_wrong_with_them() -> None:
    def problem(low: tuple[float, ...] | None, high: tuple[float, ...] | None) -> str:
        info = EnvInfo(("a", "b"), low, high)
        assert (info.bounds is None) == (info.bounds_problem is not None)
        return str(info.bounds_problem)

    assert problem((0.0, 0.0), (1.0, 1.0)) == "None"
    assert "unknown" in problem(None, None)
    assert "unknown" in problem((0.0, float("nan")), (1.0, 1.0))
    assert "2 objectives have 1 lower and 2 upper bounds" in problem((0.0,), (1.0, 1.0))
    assert "does not exceed" in problem((0.0, 1.0), (1.0, 1.0))
