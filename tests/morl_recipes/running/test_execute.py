"""What is missing is done, once, whatever happened before; the trainers here are fakes."""

import errno
import signal
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
from morl_recipes.running import execute
from morl_recipes.running import progress as progress_module
from morl_recipes.running.engines.events import Work
from morl_recipes.running.engines.inline import InlineEngine
from morl_recipes.running.engines.job import train_job
from morl_recipes.running.execute import Outcome, alone, pinned_size, run_sweep
from morl_recipes.running.plan import Job
from morl_recipes.running.test_scores import with_tests
from morl_recipes.store import versions as store_versions
from morl_recipes.store.frames import load_runs
from morl_recipes.store.record import RunRecord
from morl_recipes.store.store import Store
from morl_recipes.store.verify import verify
from tests.morl_recipes.running import fakes
from tests.morl_recipes.running.fakes import tiny_plan


def sweep(out: Path, work: Work = fakes.fake_work, *, retry_failed: bool = False, **changes: object) -> Outcome:
    plan = tiny_plan(**changes)
    return run_sweep(plan, out, InlineEngine(), work=work, progress=False, retry_failed=retry_failed)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_sweep_runs_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = sweep(tmp_path / "s")
    assert len(first.ran) == first.done == 8
    assert "To do: 8 of 8 runs (seeds 0, 1). Populations: 2. Workers: 1." in capsys.readouterr().out
    before = contents(tmp_path / "s")
    again = sweep(tmp_path / "s", fakes.raises)
    assert (again.ran, again.done) == ((), 8)
    assert contents(tmp_path / "s") == before


def test_a_population_that_raises_fails_alone_and_can_be_tried_again(tmp_path: Path) -> None:
    outcome = sweep(tmp_path / "s", fakes.raises)
    assert set(outcome.failed.values()) == {"ArithmeticError: no luck today"}
    assert (len(outcome.failed), outcome.done) == (2, 6)
    assert sweep(tmp_path / "s").ran == ()  # failed runs are not tried again unless asked for
    retried = sweep(tmp_path / "s", retry_failed=True)
    assert (len(retried.ran), retried.done, retried.failed) == (2, 8, {})


def test_an_interrupted_sweep_keeps_its_populations_on_any_machine(tmp_path: Path) -> None:
    seen: list[list[str]] = []
    interrupts = iter([False, True, False, False])

    def work(population, folder, report):  # type: ignore[no-untyped-def]
        seen.append([run.run_id for run in population.runs])
        if next(interrupts):
            raise KeyboardInterrupt
        return fakes.fake_work(population, folder, report)

    with pytest.raises(KeyboardInterrupt):
        sweep(tmp_path / "s", work)
    interrupted = seen.pop()
    engine = InlineEngine()
    engine.workers = 8
    run_sweep(tiny_plan(), tmp_path / "s", engine, work=work, progress=False)
    assert interrupted in seen
    assert sorted(run_id for ids in seen for run_id in ids) == sorted(
        run.run_id for run in tiny_plan().runs
    )  # nothing twice


def test_runs_that_are_there_survive_the_repetition_of_their_population(tmp_path: Path) -> None:
    sweep(tmp_path / "s")
    before = contents(tmp_path / "s")
    removed = sorted((tmp_path / "s" / "runs").iterdir())[0]
    for path in removed.iterdir():
        path.unlink()
    removed.rmdir()
    kept = {path: path.stat().st_ino for path in (tmp_path / "s" / "runs").iterdir()}
    outcome = sweep(tmp_path / "s")
    assert outcome.ran == (removed.name,)
    assert contents(tmp_path / "s") == before
    assert {path: path.stat().st_ino for path in kept} == kept


def test_another_sweep_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    sweep(tmp_path / "s")
    before = contents(tmp_path / "s")
    with pytest.raises(StoreError, match="holds another sweep"):
        sweep(tmp_path / "s", seeds=3)
    assert contents(tmp_path / "s") == before


def test_a_full_disk_stops_the_sweep_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        written = []

        def full(path: Path, content: bytes) -> None:
            written.append(path)
            if len(written) > 4:  # the manifest, the sizes and less than one run fit on this disk
                raise OSError(errno.ENOSPC, "No space left on device", str(path))
            path.write_bytes(content)

        patch.setattr(atomic_files, "create", full)
        with pytest.raises(StoreError, match=r"cannot write run .* \(No space left on device\)"):
            sweep(tmp_path / "s")
    store = Store.open(tmp_path / "s")
    assert len(store.run_ids()) == len(store.done()) <= 1
    assert sweep(tmp_path / "s").done == 8


@pytest.mark.parametrize(
    ("work", "place"),
    [(fakes.full_disk, "checkpoint.safetensors"), (fakes.full_disk_inside, "cache")],
    ids=["under the checkpoints", "behind another error"],
)
def test_a_full_disk_fails_no_run(tmp_path: Path, work: Work, place: str) -> None:
    with pytest.raises(StoreError, match=f"{place}: No space left on device. The sweep was stopped"):
        sweep(tmp_path / "s", work)
    assert load_runs(tmp_path / "s").empty


def test_progress_is_counted_in_steps_of_all_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    run_sweep(tiny_plan(), tmp_path / "s", InlineEngine(), work=fakes.fake_work)
    captured = capsys.readouterr()
    assert f"{8 * 256 / 1000:.2f}k" in captured.err
    assert "has ended" not in captured.out


def test_without_a_terminal_there_are_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_sweep(tiny_plan(), tmp_path / "s", InlineEngine(), work=fakes.fake_work)
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out.splitlines()[-1] == "Job 2 of 2 has ended; 8 runs so far."


def test_steps_of_a_checkpoint_are_not_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(population, folder, report):  # type: ignore[no-untyped-def]
        def stop(steps: int) -> None:
            if steps == 3 * 64 * len(population.runs):
                raise KeyboardInterrupt

        return train_job(population, folder, stop)

    with pytest.raises(KeyboardInterrupt):
        sweep(tmp_path / "s", interrupted, rows=["PASTA"])
    (population,) = tiny_plan(rows=["PASTA"]).populations(16)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    bar = progress_module.Progress([population], tmp_path / "s" / "checkpoints", print, show=True)._bar
    assert (bar.n, bar.initial, bar.total) == (3 * 64 * 2, 3 * 64 * 2, 2 * 256)
    bar.close()
    (tmp_path / "s" / "checkpoints" / population.name / "checkpoint.safetensors").write_text("damaged")
    assert progress_module._steps_before(tmp_path / "s" / "checkpoints", population) == 0
    assert progress_module._steps_before(None, population) == 0


def test_the_driver_holds_no_semaphore_of_the_system(tmp_path: Path) -> None:
    sweep(tmp_path / "s")
    lock = tqdm.get_lock()  # type: ignore[no-untyped-call]
    assert isinstance(lock, type(threading.RLock()))


def test_many_seeds_are_abbreviated() -> None:
    assert execute.describe_seeds(tiny_plan(seeds=[5])) == "seed 5"
    assert execute.describe_seeds(tiny_plan(seeds=9)) == "seeds 0, 1, 2, 3, 4, 5, 6, 7, ..."


def test_what_the_machine_did_is_no_failed_run(tmp_path: Path) -> None:
    outcome = sweep(tmp_path / "s", fakes.no_memory)
    assert (outcome.done, outcome.failed) == (6, {})
    assert set(outcome.lost.values()) == {"no memory left"}
    assert len(outcome.lost) == 2
    again = sweep(tmp_path / "s")
    assert (len(again.ran), again.done, again.lost) == (2, 8, {})


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
    ],
)
def test_what_the_machine_lacks_is_no_failed_run(tmp_path: Path, ask: Callable[[], None], words: str) -> None:
    def greedy(population: Job, folder: Path | None, report: object) -> list[RunRecord]:
        ask()
        return []

    outcome = sweep(tmp_path / "s", greedy)
    assert (outcome.done, outcome.failed, len(outcome.lost)) == (0, {}, 8)
    (reason,) = set(outcome.lost.values())
    assert words in reason
    assert "\n" not in reason


def press_in_tests(monkeypatch: pytest.MonkeyPatch, *, of: int) -> None:
    """Press Ctrl-C while the policies of one population are tested."""
    calls = list[int]()

    def pressed(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == of:
            signal.raise_signal(signal.SIGINT)
        return with_tests(*arguments)

    monkeypatch.setattr("morl_recipes.running.engines.job.with_tests", pressed)


def test_an_interrupt_at_the_end_of_the_last_population_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    press_in_tests(monkeypatch, of=2)
    assert sweep(tmp_path / "s", train_job).done == 8


def test_another_pytorch_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep(tmp_path / "s", fakes.one_fails)
    installed = {**store_versions.package_versions(), "torch": "1.0.0"}
    monkeypatch.setattr(store_versions, "_installed", lambda: installed)
    assert sweep(tmp_path / "s").ran == ()  # nothing to do, nothing to ask
    before = contents(tmp_path / "s")
    with pytest.raises(StoreError, match=r"other versions \(torch .*, here 1.0.0\).*--accept-versions"):
        sweep(tmp_path / "s", retry_failed=True)
    assert contents(tmp_path / "s") == before
    capsys.readouterr()
    plan = tiny_plan()
    arguments: dict[str, Any] = {"work": fakes.fake_work, "progress": False, "retry_failed": True}
    outcome = run_sweep(plan, tmp_path / "s", InlineEngine(), accept_versions=True, **arguments)
    assert outcome.done == 8
    assert "Every run records its versions" in capsys.readouterr().out
    assert {fields["versions"]["torch"] for fields in outcome.store.statuses().values()} == {"1.0.0", torch.__version__}


def test_other_dynamics_are_asked_about_where_they_are_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep(tmp_path / "s", fakes.one_fails)
    ours = tiny_plan(envs=["stealth"], rows=["Linear"])
    Store.create(tmp_path / "ours", ours.manifest())
    installed = {**store_versions.package_versions(), "gymnasium": "0.1", "mujoco": "0.2"}
    installed.pop("mo-gymnasium", None)  # what is not here, is not another version
    monkeypatch.setattr(store_versions, "_installed", lambda: installed)
    other = r"other versions \(gymnasium .*, here 0\.1; mujoco .*, here 0\.2\)"
    with pytest.raises(StoreError, match=other):
        sweep(tmp_path / "s", retry_failed=True)
    run_sweep(ours, tmp_path / "ours", InlineEngine(), work=fakes.raises, progress=False)  # asks nothing
    plan, arguments = tiny_plan(), {"work": fakes.fake_work, "progress": False, "retry_failed": True}
    outcome = run_sweep(plan, tmp_path / "s", InlineEngine(), accept_versions=True, **arguments)  # type: ignore[arg-type]
    versions = {fields["versions"]["gymnasium"] for fields in outcome.store.statuses().values()}
    assert len(versions) == 2
    (finding,) = verify(tmp_path / "s").findings
    assert "1 by gymnasium 0.1; 7 by gymnasium " in finding.what
    assert "torch" not in finding.what


def test_a_log_has_a_line_every_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    populations = tiny_plan().populations(16)
    said: list[str] = []
    progress = progress_module.Progress(populations, None, said.append, show=True, every=0.05)
    monkeypatch.setattr(progress, "_started", time.monotonic() - 100)
    progress.update(populations[0].name, 512)
    wait = time.monotonic() + 10
    while not said and time.monotonic() < wait:
        time.sleep(0.01)
    assert said[0] == "0 of 8 runs done, 1 job running, 25.0% of the steps, 5 steps/s, about 5 min left."
    progress.end(populations[0], 2)
    assert "2 of 8 runs done, 0 jobs running" in progress.line()
    progress.close()
    time.sleep(0.2)
    count = len(said)
    time.sleep(0.2)
    assert len(said) == count
    assert "no step yet" in progress_module.Progress(populations, None, said.append, show=False).line()


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


def test_size_that_cannot_be_written_stops_before_any_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(atomic_files, "replace", full)
    with pytest.raises(StoreError, match=r"s: cannot be written \(No space left on device\)"):
        sweep(tmp_path / "s")
    assert not Store.open(tmp_path / "s").run_ids()
