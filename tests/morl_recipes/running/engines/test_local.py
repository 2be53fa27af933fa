"""Worker processes: they train, die, are replaced, and never outlive their driver."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morl_recipes.running.engines.events import Event, Finished, Lost, Work
from morl_recipes.running.engines.inline import InlineEngine
from morl_recipes.running.engines.job import train_job
from morl_recipes.running.engines.local import LocalEngine
from morl_recipes.running.execute import run_sweep
from tests.morl_recipes.running import fakes
from tests.morl_recipes.running.fakes import contents, tiny_plan
from tests.refusals import refused

FORK = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def run(work: Work, folder: Path | None, workers: int = 2, silence: float = 1800.0, **changes: Any) -> list[Event]:
    populations = tiny_plan(**changes).populations(16)
    return list(LocalEngine(workers, silence=silence).run(populations, work, folder, lambda name, steps: None))


def test_every_population_ends_once_and_progress_is_passed_on() -> None:
    populations, told = tiny_plan().populations(16), []
    events = list(LocalEngine(2).run(populations, fakes.fake_work, None, lambda *args: told.append(args)))
    assert sorted(event.name for event in events) == sorted(p.name for p in populations)
    assert sorted(told) == sorted((p.name, p.steps // 2) for p in populations)
    for event in events:
        assert isinstance(event, Finished)
        (population,) = [p for p in populations if p.name == event.name]
        expected = fakes.fake_work(population, None, lambda steps: None)
        assert [r.history.to_csv() for r in event.records] == [r.history.to_csv() for r in expected]


@pytest.mark.parametrize(("work", "attempts"), [(fakes.dies_twice, 3), (fakes.hangs_once, 2)])
def test_lost_worker_is_replaced_and_its_population_tried_again(tmp_path: Path, work: Work, attempts: int) -> None:
    events = run(work, tmp_path, workers=1, silence=1.5)
    assert [type(event) for event in events] == [Finished] * 2
    assert len(list(tmp_path.glob("*/tried*"))) == attempts


@pytest.mark.parametrize(
    ("work", "reason"), [(fakes.dies_always, "exit code -9"), (fakes.hangs_always, "no progress for 0.7 seconds")]
)
def test_population_that_always_loses_its_worker_stays_to_do(work: Work, reason: str) -> None:
    events = run(work, None, silence=0.7)
    (lost,) = [event for event in events if isinstance(event, Lost)]
    assert lost.reason == f"its worker was lost 3 times ({reason})"
    assert len(events) == 2


def test_slow_worker_that_reports_progress_is_kept() -> None:
    (event,) = run(fakes.slow_but_alive, None, workers=1, silence=1.5, rows=["PASTA"])
    assert isinstance(event, Finished)


@pytest.mark.parametrize("work", [fakes.sleeps, train_job])
def test_interrupted_engine_ends_within_five_seconds(tmp_path: Path, work: Work) -> None:
    plan = tiny_plan(total_steps=64 * 100_000, checkpoint_every=100_000, eval_every=100_000)
    events = LocalEngine(2).run(plan.populations(16), work, tmp_path, lambda name, steps: None)
    stopper = threading.Timer(6.0, os.kill, (os.getpid(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    stopper.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            next(events)
    finally:
        ended = time.monotonic()
        events.close()
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - ended < 5
    assert stopper.finished.is_set()


def test_real_training_gives_the_same_numbers_as_in_this_process(tmp_path: Path) -> None:
    for name, engine in (("local", LocalEngine(2)), ("inline", InlineEngine())):
        run_sweep(tiny_plan(population=2), tmp_path / name, engine, progress=False)
    local, inline = (contents(tmp_path / name / "runs") for name in ("local", "inline"))
    assert len(inline) == 8 * 3
    assert local == inline


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def _gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


@FORK
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and /proc")
def test_workers_end_with_a_driver_that_is_killed(tmp_path: Path) -> None:
    run(fakes.fake_work, tmp_path)  # starts the server that workers are forked from
    place = tmp_path / "pids"
    driver = fakes.start_driver(run, fakes.sleeps, place)
    wait_until(lambda: len(list(place.glob("*.pid"))) == 2, "no workers")
    pids = [int(path.stem) for path in place.glob("*.pid")]
    assert not any(_gone(pid) for pid in pids)
    os.kill(driver.pid or 0, signal.SIGKILL)
    driver.join()
    wait_until(lambda: all(_gone(pid) for pid in pids), "workers outlive their driver", 20)


def test_interrupted_worker_saves_the_iteration_that_it_is_in(tmp_path: Path) -> None:
    plan = tiny_plan(rows=["PASTA"], total_steps=64 * 10_000, checkpoint_every=10_000, eval_every=10_000)

    def interrupt(name: str, steps: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(LocalEngine(1).run(plan.populations(16), train_job, tmp_path, interrupt))
    assert len(list(tmp_path.glob("*/checkpoint.safetensors"))) == 1


def test_bad_number_of_workers_is_refused() -> None:
    assert LocalEngine().workers >= 1
    refused("`workers` must be a whole number >= 1", LocalEngine, 0)
    refused("`silence` must be > 0, got 0", LocalEngine, 1, silence=0)
