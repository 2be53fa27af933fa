"""Kill a sweep again and again: is anything lost, run twice or changed?

A small sweep is trained once undisturbed. Then it is started and killed with ``kill -9``, driver and workers at once,
at random moments, until it is complete, and this is repeated until the kills are spent. At the end every file of every
run must be that of the undisturbed sweep, byte for byte, and no run that was there once may be written again.

Run ``python -m benchmarks.kill_campaign``; it prints what happened and writes it as JSON.
"""

import dataclasses
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tyro

from benchmarks._report import Report
from morl_recipes.store.verify import verify

SWEEP = ("--rows", "PASTA", "Linear", "No PCGrad", "--envs", "deep-sea-treasure-v0", "--num-seeds", "2")
SHORT = ("--num-envs", "2", "--eval-every", "4", "--eval-episodes", "2", "--population", "2", "--quiet")


@dataclasses.dataclass(frozen=True)
class Args:
    """Kill a sweep at random moments, and compare its results with those of an undisturbed one."""

    out: Path = Path("benchmarks/results/kill_campaign.json")
    """Where to write the figures."""
    kills: int = 30
    """How often to kill."""
    total_steps: int = 40_960
    """Environment steps per run."""
    workers: int = 2
    """Worker processes."""
    seed: int = 0
    """Seed of the moments."""


def start(args: Args, folder: Path) -> "subprocess.Popen[bytes]":
    """Start the sweep in a process group of its own."""
    command = [sys.executable, "-m", "morl_recipes", "sweep", *SWEEP, *SHORT, "--out", str(folder)]
    command += ["--total-steps", str(args.total_steps), "--workers", str(args.workers)]
    return subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def results(folder: Path) -> dict[str, bytes]:
    """Return the content of every file of every run."""
    files = [path for path in (folder / "runs").rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def identities(folder: Path) -> dict[str, int]:
    """Return which folder stands for each run."""
    runs = folder / "runs"
    return {path.name: path.stat().st_ino for path in runs.iterdir()} if runs.is_dir() else {}


def undisturbed(args: Args, folder: Path) -> float:
    """Train the sweep once; return the seconds it takes."""
    begin = time.monotonic()
    process = start(args, folder)
    _, errors = process.communicate()
    if process.returncode:
        raise RuntimeError(f"the undisturbed sweep failed: {errors.decode()}")
    return time.monotonic() - begin


@dataclasses.dataclass
class Tally:
    """What happened."""

    kills: int = 0
    complete: int = 0
    rewritten: int = 0
    different: int = 0
    tracebacks: int = 0
    damaged: int = 0


def round_of_kills(args: Args, folder: Path, seconds: float, draw: random.Random, tally: Tally) -> None:
    """Start and kill one sweep until it is complete or the kills are spent; then let it end."""
    kept: dict[str, int] = {}
    while True:
        process = start(args, folder)
        last = tally.kills >= args.kills
        try:
            _, errors = process.communicate(timeout=None if last else draw.uniform(0.25, 1.0) * seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            _, errors = process.communicate()
            tally.kills += 1
        tally.tracebacks += b"Traceback" in errors
        now = identities(folder)
        tally.rewritten += sum(now.get(name) != identity for name, identity in kept.items())
        kept = now
        if process.returncode == 0:
            tally.complete += 1
            return


def main(args: Args) -> dict[str, object]:
    """Run the campaign."""
    report, tally, draw = Report(args.out), Tally(), random.Random(args.seed)
    with tempfile.TemporaryDirectory() as temporary:
        whole = Path(temporary) / "whole"
        seconds = undisturbed(args, whole)
        expected = results(whole)
        while tally.kills < args.kills:
            folder = Path(temporary) / f"killed-{tally.complete}"
            round_of_kills(args, folder, seconds, draw, tally)
            found = results(folder)
            tally.different += sum(found.get(name) != content for name, content in expected.items())
            tally.different += len(found.keys() - expected.keys())
            tally.damaged += len(verify(folder).findings)
    report.say(
        f"kill -9, driver and workers at once:      {tally.kills}",
        f"sweeps that were completed afterwards:    {tally.complete}",
        f"files per sweep, compared byte for byte:  {len(expected)}",
        f"files that are missing or differ:         {tally.different}",
        f"runs that were written twice:             {tally.rewritten}",
        f"findings of morl-blocks verify:           {tally.damaged}",
        f"tracebacks:                               {tally.tracebacks}",
    )
    made = {**dataclasses.asdict(tally), "files": len(expected)}
    report.write(made)
    return made


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
