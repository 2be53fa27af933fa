"""Sweeps that share a store, clocks that jump, disks that fill up, histories without end: is anything lost?

- *two sweeps*: the same sweep is started twice at once. One must train, the other must leave with a sentence.
- *a reader*: while runs are written, all that is there is read and checked again and again.
- *a clock*: the time of day jumps back by an hour, and on by a month, each time that somebody looks at it.
- *a full disk*: a sweep is trained once for each of its writes, and that write, with all later ones, finds no room.
  Then there is room again, and the same sweep goes on.
- *a long history*: a million iterations are resumed, written, read, checked and shown in a table.

In the end every file must be that of an undisturbed sweep, byte for byte. *Lost* counts files that are missing or
differ, *silent* what was wrong and not said, *obscure* errors that are no sentence.

Run ``python -m benchmarks.endurance``; it prints a table and writes it as JSON.
"""

import dataclasses
import errno
import itertools
import os
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
import tyro

from benchmarks import kill_campaign
from benchmarks._report import Report
from benchmarks.store_scale import made_up
from morl_recipes import PASTA
from morl_recipes.analysis.tables.render import render_table
from morl_recipes.common.errors import StoreError
from morl_recipes.recipe.run import Run
from morl_recipes.running.engines.inline import InlineEngine
from morl_recipes.running.execute import run_sweep
from morl_recipes.running.plan import Job, Plan, make_plan
from morl_recipes.running.sweep import sweep_from
from morl_recipes.store.frames import load_history, load_runs
from morl_recipes.store.history import History, Mark
from morl_recipes.store.record import RunRecord
from morl_recipes.store.store import Store
from morl_recipes.store.verify import verify

BUSY = 3
"""Exit code of a sweep whose store is in use."""


@dataclasses.dataclass(frozen=True)
class Args:
    """Disturb sweeps, and compare their results with those of an undisturbed one."""

    out: Path = Path("benchmarks/results/endurance.json")
    """Where to write the figures."""
    pairs: int = 5
    """How often two sweeps are started at once."""
    runs: int = 60
    """Runs that are written while somebody reads."""
    writes: int = 200
    """Most writes of a sweep that find a full disk."""
    lines: int = 1_000_000
    """Iterations of the long history."""


@dataclasses.dataclass
class Count:
    """What happened in one of them."""

    tried: int = 0
    lost: int = 0
    silent: int = 0
    obscure: int = 0


def plan_of(seeds: int = 2, **changes: Any) -> Plan:
    """Return the plan of a small sweep that really trains."""
    keys: dict[str, Any] = {"rows": ["PASTA", "Linear"], "envs": ["deep-sea-treasure-v0"], "seeds": seeds}
    keys |= {"preferences": [[0.5, 0.5]], "total_steps": 128, "num_envs": 2, "eval_every": 1, "eval_episodes": 1}
    keys |= {"checkpoint_every": 1, "test_episodes": 1, "population": 2}
    keys |= {"ppo": {"steps_per_iteration": 64, "minibatch_size": 64, "epochs": 1}}
    return make_plan(sweep_from(keys | changes))


def sweep(folder: Path, plan: Plan, **how: Any) -> object:
    """Do what is missing."""
    return run_sweep(plan, folder, InlineEngine(), progress=False, say=lambda text: None, **how)


def differences(expected: dict[str, bytes], folder: Path) -> int:
    """Count the files that are missing, differ or are too many."""
    found = kill_campaign.results(folder)
    return sum(found.get(name) != expected.get(name) for name in expected.keys() | found.keys())


def two_sweeps(args: Args, folder: Path) -> Count:
    """Start the same sweep twice at once."""
    count, how = Count(), kill_campaign.Args(total_steps=8192, workers=1)
    kill_campaign.undisturbed(how, "sweep", folder / "whole")
    expected = kill_campaign.results(folder / "whole")
    for number in range(args.pairs):
        both = [kill_campaign.start(how, "sweep", folder / str(number)) for _ in range(2)]
        ends = [(process.communicate()[1].decode(), process.returncode) for process in both]
        count.tried += 1
        codes = sorted(code for _, code in ends)
        refused = [text for text, code in ends if code == BUSY]
        count.silent += codes not in ([0, BUSY], [0, 0]) or not all("another process is working" in t for t in refused)
        count.obscure += any("Traceback" in text for text, _ in ends)
        count.lost += differences(expected, folder / str(number)) + len(verify(folder / str(number)).findings)
    return count


def reader(args: Args, folder: Path) -> Count:
    """Read all that is there while runs are written."""
    plan, count, store = plan_of(args.runs // 2), Count(), folder / "store"
    expected = {run.run_id: made_up(run, 50) for run in plan.runs}

    def work(job: Job, place: Path | None, report: Callable[[int], None]) -> list[RunRecord]:
        time.sleep(0.02)
        return [expected[run.run_id] for run in job.runs]

    writer = threading.Thread(target=sweep, args=(store, plan), kwargs={"work": work})
    writer.start()
    before = 0
    while writer.is_alive():
        try:
            if (store / "manifest.json").exists():
                runs, rows, count.tried = load_runs(store), load_history(store), count.tried + 1
                there = int((runs["status"] == "done").sum()) if len(runs) else 0
                count.lost += there < before
                count.silent += (len(rows) % 50 > 0) + len(verify(store).findings)
                before = there
        except StoreError as error:
            count.silent += "damaged" in str(error)
        except Exception:
            count.obscure += 1
    writer.join()
    count.lost += len(plan.runs) - len(Store.open(store).done())
    return count


def clock(args: Args, folder: Path) -> Count:
    """Train while the time of day jumps at every look."""
    plan, count = plan_of(), Count()
    sweep(folder / "whole", plan)
    expected = kill_campaign.results(folder / "whole")
    now, jumps = time.time(), itertools.cycle((-3600.0, 30 * 86_400.0, -60 * 86_400.0))

    def jumping() -> float:
        nonlocal now
        count.tried += 1
        now += next(jumps)
        return now

    with mock.patch("time.time", jumping):
        for number in range(3):  # the others find all of it there
            try:
                sweep(folder / "jumped", plan)
            except StoreError:
                count.lost += 1
            except Exception:
                count.obscure += 1
            Store.open(folder / "jumped").remove_leftovers(older_than=number)
    count.lost += differences(expected, folder / "jumped") + len(verify(folder / "jumped").findings)
    return count


@contextmanager
def full_from(number: int) -> Iterator[Callable[[], bool]]:
    """Let a write, counted from 1, and all later ones find no room; yields whether it came to that."""
    real, written = os.write, 0

    def write(handle: int, content: Any) -> int:
        nonlocal written
        written += 1
        if written >= number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(handle, content)

    with mock.patch("os.write", write):
        yield lambda: written >= number


def full_disk(args: Args, folder: Path) -> Count:
    """Train with a disk that is full from each write on, and go on when it is not."""
    plan, count = plan_of(1), Count()
    sweep(folder / "whole", plan)
    expected = kill_campaign.results(folder / "whole")
    for number in range(1, args.writes + 1):
        store = folder / str(number)
        with full_from(number) as reached:
            try:
                sweep(store, plan)
                count.silent += reached()
            except StoreError as error:
                count.obscure += "No space left" not in str(error)
            except OSError as error:  # the command prints it with the name of the file
                count.obscure += error.errno != errno.ENOSPC
            except Exception:
                count.obscure += 1
        sweep(store, plan)
        count.tried += 1
        count.lost += differences(expected, store) + len(verify(store).findings)
        if not reached():
            return count
    return count


def long_history(args: Args, folder: Path) -> Count:
    """Resume, write, read, check and show a history of a million lines."""
    count, plan = Count(tried=args.lines), plan_of(1, rows=["PASTA"])
    (planned,) = plan.runs
    record = made_up(planned, args.lines)
    names = ["iteration", "steps", "mu", "conflict", "return_0", "return_1", "hv", "eu"]
    frame = record.history[names]
    path, owner = folder / "history.csv", f"0,{planned.seed},{','.join(map(str, planned.preference))},"
    lines = frame.to_csv(index=False, lineterminator="\r\n").splitlines(keepends=True)
    content = "".join([f"run,seed,weight_0,weight_1,{lines[0]}", *(owner + line for line in lines[1:])]).encode()
    path.write_bytes(content)
    history = History([Run(PASTA, planned.preference, planned.seed)], 2, path)
    history.load(Mark(args.lines, len(content), zlib.crc32(content)), names)
    count.lost += not history.frame(0).equals(frame.astype({"iteration": int, "steps": int}))
    store = Store.create(folder / "store", plan.manifest())
    store.write(dataclasses.replace(record, history=frame))
    read = load_history(store)
    count.lost += not np.array_equal(read[names].to_numpy(float), frame.to_numpy(float), equal_nan=True)
    count.silent += len(verify(store.path).findings) + ("PASTA" not in render_table(store))
    return count


CAMPAIGNS: dict[str, Callable[[Args, Path], Count]] = {
    "two sweeps on one store": two_sweeps,
    "readings during writes": reader,
    "looks at a jumping clock": clock,
    "writes to a full disk": full_disk,
    "lines of one history": long_history,
}


def main(args: Args) -> dict[str, Any]:
    """Run them all."""
    torch.set_num_threads(1)
    report, results = Report(args.out), dict[str, Any]()
    report.say(f"{'what':<28}{'tried':>10}{'lost':>8}{'silent':>8}{'obscure':>9}")
    for name, campaign in CAMPAIGNS.items():
        with tempfile.TemporaryDirectory() as temporary:
            found = campaign(args, Path(temporary))
        results[name] = dataclasses.asdict(found)
        report.say(f"{name:<28}{found.tried:>10,}{found.lost:>8}{found.silent:>8}{found.obscure:>9}")
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
