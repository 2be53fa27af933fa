"""Sweeps that are interrupted, fail, lose workers or meet a full disk; most of their trainers are fakes."""

import errno
import itertools
import re
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tqdm import tqdm

from morl_recipes.common import atomic_files
from morl_recipes.common.errors import StoreError
from morl_recipes.running import progress as progress_module
from morl_recipes.running.engines.events import Work
from morl_recipes.running.engines.inline import InlineEngine
from morl_recipes.running.engines.job import train_job
from morl_recipes.running.execute import Outcome, alone, pinned_size, run_sweep
from morl_recipes.store import versions as store_versions
from morl_recipes.store.frames import load_runs
from morl_recipes.store.store import Store
from morl_recipes.store.verify import verify
from tests.morl_recipes.running import fakes
from tests.morl_recipes.running.fakes import contents, tiny_plan


def sweep(out: Path, work: Work = fakes.fake_work, *, retry_failed: bool = False, **changes: object) -> Outcome:
    plan = tiny_plan(**changes)
    return run_sweep(plan, out, InlineEngine(), work=work, progress=False, retry_failed=retry_failed)


def test_finished_sweep_is_not_trained_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = sweep(tmp_path / "s")
    assert len(first.ran) == first.done == 8
    assert "To do: 8 of 8 runs (seeds 0, 1). Populations: 2. Workers: 1." in capsys.readouterr().out
    before = contents(tmp_path / "s")
    again = sweep(tmp_path / "s", fakes.raises)
    assert (again.ran, again.done) == ((), 8)
    with pytest.raises(StoreError, match="holds another sweep"):
        sweep(tmp_path / "s", seeds=3)
    assert contents(tmp_path / "s") == before


def test_population_that_raises_fails_alone_and_is_retried_when_asked_for(tmp_path: Path) -> None:
    outcome = sweep(tmp_path / "s", fakes.raises)
    assert set(outcome.failed.values()) == {"ArithmeticError: no luck today"}
    assert (len(outcome.failed), outcome.done) == (2, 6)
    assert sweep(tmp_path / "s").ran == ()
    retried = sweep(tmp_path / "s", retry_failed=True)
    assert (len(retried.ran), retried.done, retried.failed) == (2, 8, {})


def test_missing_run_is_restored_and_the_others_are_kept(tmp_path: Path) -> None:
    sweep(tmp_path / "s")
    before = contents(tmp_path / "s")
    removed = sorted((tmp_path / "s" / "runs").iterdir())[0]
    shutil.rmtree(removed)
    kept = {path: path.stat().st_ino for path in (tmp_path / "s" / "runs").iterdir()}
    assert sweep(tmp_path / "s").ran == (removed.name,)
    assert contents(tmp_path / "s") == before
    assert {path: path.stat().st_ino for path in kept} == kept


def full_disk(after: int) -> Callable[[Path, bytes], None]:
    """Return a function that writes some files, and then finds the disk full."""
    written = itertools.count(1)

    def write(path: Path, content: bytes) -> None:
        if next(written) > after:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        path.write_bytes(content)

    return write


@pytest.mark.parametrize(
    ("function", "after", "message"),
    [
        ("create", 4, "cannot write run .*"),  # the manifest, the sizes and less than one run fit on this disk
        ("replace", 0, "s: cannot be written"),  # not even the sizes
    ],
)
def test_full_disk_stops_the_sweep_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, after: int, message: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(atomic_files, function, full_disk(after))
        with pytest.raises(StoreError, match=rf"{message} \(No space left on device\)"):
            sweep(tmp_path / "s")
    store = Store.open(tmp_path / "s")
    assert len(store.run_ids()) == len(store.done()) <= 1
    assert sweep(tmp_path / "s").done == 8


@pytest.mark.parametrize(("work", "place"), [(fakes.full_disk, "checkpoint"), (fakes.full_disk_inside, "cache")])
def test_full_disk_of_a_worker_fails_no_run(tmp_path: Path, work: Work, place: str) -> None:
    with pytest.raises(StoreError, match=f"{place}.*: No space left on device. The sweep was stopped"):
        sweep(tmp_path / "s", work)
    assert load_runs(tmp_path / "s").empty


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_a_bar_in_a_terminal_and_else_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    run_sweep(tiny_plan(), tmp_path / "s", InlineEngine(), work=fakes.fake_work)
    captured = capsys.readouterr()
    assert (f"{8 * 256 / 1000:.2f}k" in captured.err) == terminal  # steps of all runs
    assert (captured.err == "") == (not terminal)
    assert captured.out.endswith("left, 8 of 8 runs done\n") == (not terminal)
    lock = tqdm.get_lock()  # type: ignore[no-untyped-call]
    assert isinstance(lock, type(threading.RLock()))  # a semaphore of the system would outlive a kill


def test_steps_of_a_checkpoint_are_not_new(tmp_path: Path) -> None:
    (population,) = tiny_plan(rows=["PASTA"]).populations(16)
    folder = tmp_path / population.name

    def stop(steps: int) -> None:
        if steps == 3 * 64 * len(population.runs):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_job(population, folder, stop)
    progress = progress_module.Progress([population], tmp_path, print, show=True)
    assert (progress.bar.n, progress.bar.initial, progress.bar.total) == (3 * 64 * 2, 3 * 64 * 2, 2 * 256)
    progress.bar.close()
    (folder / "checkpoint.safetensors").write_text("damaged")
    assert progress_module._steps_before(tmp_path, population) == 0


def test_log_without_a_terminal_has_a_line_per_interval_and_per_job(monkeypatch: pytest.MonkeyPatch) -> None:
    populations = tiny_plan().populations(16)
    said: list[str] = []
    monkeypatch.setattr(progress_module, "EVERY", 0.05)
    progress = progress_module.Progress(populations, None, said.append, show=True)
    progress.update(populations[0].name, 0)
    time.sleep(0.1)
    progress.update(populations[0].name, 512)
    (line,) = said
    assert re.fullmatch(r"25.0% of 2.05k steps, .* steps/s, 00:0\d left, 0 of 8 runs done", line)
    progress.end(populations[0], 2)
    progress.bar.close()
    assert [text.split(", ")[-1] for text in said] == ["0 of 8 runs done", "2 of 8 runs done"]


def _ask_for_a_petabyte() -> None:
    torch.empty(10**15, dtype=torch.uint8)


def _ask_a_full_gpu() -> None:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.\nC++ stack")


def _wait_for_a_checkpoint() -> None:
    raise TimeoutError("another process is still training this population")


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (_ask_for_a_petabyte, "can't allocate memory"),
        (_ask_a_full_gpu, "out of memory"),
        (_wait_for_a_checkpoint, "another process"),
        (fakes._run_out_of_memory, "no memory left"),
    ],
)
def test_runs_that_lack_memory_or_a_lock_are_lost_and_not_failed(
    tmp_path: Path, ask: Callable[[], None], words: str
) -> None:
    outcome = sweep(tmp_path / "s", fakes.InLinear(ask))
    assert (outcome.done, outcome.failed, len(outcome.lost)) == (6, {}, 2)
    (reason,) = set(outcome.lost.values())
    assert words in reason
    assert "\n" not in reason
    again = sweep(tmp_path / "s")
    assert (len(again.ran), again.done, again.lost) == (2, 8, {})


def test_other_versions_need_consent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep(tmp_path / "s", fakes.one_fails)
    ours = tiny_plan(envs=["stealth"], rows=["Linear"])
    Store.create(tmp_path / "ours", ours.manifest())
    before = contents(tmp_path / "s")
    installed = {**store_versions.package_versions(), "gymnasium": "0.1", "mujoco": "0.2"}
    installed.pop("mo-gymnasium", None)  # a package that is not installed is not another version
    monkeypatch.setattr(store_versions, "_installed", lambda: installed)
    assert sweep(tmp_path / "s").ran == ()  # nothing to do, nothing to ask
    with pytest.raises(StoreError, match=r"other versions \(gymnasium .*, here 0\.1; mujoco .*, here 0\.2\)"):
        sweep(tmp_path / "s", retry_failed=True)
    assert contents(tmp_path / "s") == before
    run_sweep(ours, tmp_path / "ours", InlineEngine(), work=fakes.raises, progress=False)  # our own world has no others
    monkeypatch.setattr(store_versions, "_installed", lambda: {**installed, "torch": "1.0.0"})
    with pytest.raises(StoreError, match=r"other versions \(.*torch .*, here 1.0.0.*--accept-versions"):
        run_sweep(ours, tmp_path / "ours", InlineEngine(), retry_failed=True, progress=False)
    capsys.readouterr()
    arguments: dict[str, Any] = {"work": fakes.fake_work, "progress": False, "retry_failed": True}
    outcome = run_sweep(tiny_plan(), tmp_path / "s", InlineEngine(), accept_versions=True, **arguments)
    assert outcome.done == 8
    assert "Every run records its versions" in capsys.readouterr().out
    assert {fields["versions"]["torch"] for fields in outcome.store.statuses().values()} == {"1.0.0", torch.__version__}
    assert any("1 by gymnasium 0.1; 7 by gymnasium " in finding.what for finding in verify(tmp_path / "s").findings)


def test_populations_keep_the_size_of_the_first_start(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    for size in (2, 5):
        sized: dict[str, Any] = {"size": size, "work": fakes.one_fails, "retry_failed": True, "progress": False}
        run_sweep(tiny_plan(), folder, InlineEngine(), **sized)
        assert pinned_size(folder) == 2
    path = folder / "populations.json"
    path.write_text(path.read_text().replace("2", "9", 1))
    with pytest.raises(StoreError, match=r"populations.json: damaged"):
        sweep(folder)


def test_one_process_at_a_time_works_on_a_store(tmp_path: Path) -> None:
    with alone(tmp_path), pytest.raises(StoreError, match="another process is working on this sweep"), alone(tmp_path):
        pass
    with alone(tmp_path):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"file: cannot be written \("), alone(tmp_path / "file"):
        pass
