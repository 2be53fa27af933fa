"""Kill ``sweep``, ``train`` and ``front`` again and again: is anything lost, run twice or changed?

Each is run once undisturbed. Then it is started and killed with ``kill -9``, driver and workers at once, at random
moments, until it is complete, and this is repeated until the kills are spent. At the end every file of every run, and
the front with its policies, must be those of the undisturbed command, byte for byte, and no run that was there once may
be written again.

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
from morl_recipes.store.store import OF_FRONT
from morl_recipes.store.verify import verify

WORLD = "deep-sea-treasure-v0"
SHORT = ("--num-envs", "2", "--eval-every", "4", "--eval-episodes", "2", "--checkpoint-every", "2", "--quiet")
COMMANDS = {
    "sweep": ("--rows", "PASTA", "Linear", "No PCGrad", "--envs", WORLD, "--num-seeds", "2", "--population", "2"),
    "train": ("PASTA", "--env", WORLD, "--num-seeds", "2"),
    "front": ("--env", WORLD, "--num-seeds", "2", "--preferences", "5"),
}


@dataclasses.dataclass(frozen=True)
class Args:
    """Kill commands at random moments, and compare their results with those of undisturbed ones."""

    out: Path = Path("benchmarks/results/kill_campaign.json")
    """Where to write the figures."""
    kills: int = 30
    """How often to kill, all commands together."""
    total_steps: int = 20_480
    """Environment steps per run."""
    workers: int = 2
    """Worker processes of the sweep."""
    seed: int = 0
    """Seed of the moments."""


def start(args: Args, name: str, folder: Path) -> "subprocess.Popen[bytes]":
    """Start a command in a process group of its own."""
    command = [sys.executable, "-m", "morl_recipes", name, *COMMANDS[name], *SHORT, "--out", str(folder)]
    command += ["--total-steps", str(args.total_steps)]
    command += ["--workers", str(args.workers)] if name == "sweep" else []
    return subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def store_of(folder: Path) -> Path:
    """Return the store of a command's folder."""
    return folder / OF_FRONT if (folder / OF_FRONT).is_dir() else folder


def results(folder: Path) -> dict[str, bytes]:
    """Return the content of every file of every run, and of the front and its policies."""
    files = [path for path in (store_of(folder) / "runs").rglob("*") if path.is_file()]
    files += [*folder.glob("front.json"), *folder.glob("policies-*")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def identities(folder: Path) -> dict[str, int]:
    """Return which folder stands for each run."""
    runs = store_of(folder) / "runs"
    return {path.name: path.stat().st_ino for path in runs.iterdir()} if runs.is_dir() else {}


def undisturbed(args: Args, name: str, folder: Path) -> float:
    """Run a command once; return the seconds it takes."""
    begin = time.monotonic()
    process = start(args, name, folder)
    _, errors = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{name} failed undisturbed: {errors.decode()}")
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


def round_of_kills(args: Args, name: str, folder: Path, most: int, seconds: float, tally: Tally) -> None:
    """Start and kill one command until it is complete or ``most`` kills are spent; then let it end."""
    kept, draw = dict[str, int](), random.Random(f"{args.seed} {name} {tally.kills}")
    while True:
        process = start(args, name, folder)
        last = tally.kills >= most
        try:
            _, errors = process.communicate(timeout=None if last else draw.uniform(0.25, 1.0) * seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            _, errors = process.communicate()
            tally.kills += 1
        tally.tracebacks += b"Traceback" in errors
        now = identities(folder)
        tally.rewritten += sum(now.get(run) != identity for run, identity in kept.items())
        kept = now
        if process.returncode == 0:
            tally.complete += 1
            return
        if process.returncode > 0:
            raise RuntimeError(f"{name} failed: {errors.decode()}")


def main(args: Args) -> dict[str, object]:
    """Run the campaign."""
    report, tally, files = Report(args.out), Tally(), 0
    with tempfile.TemporaryDirectory() as temporary:
        for number, name in enumerate(COMMANDS, start=1):
            whole = Path(temporary) / name
            seconds = undisturbed(args, name, whole)
            expected, most = results(whole), args.kills * number // len(COMMANDS)
            files += len(expected)
            while tally.kills < most:
                folder = Path(temporary) / f"{name}-{tally.complete}"
                round_of_kills(args, name, folder, most, seconds, tally)
                found = results(folder)
                tally.different += sum(found.get(file) != content for file, content in expected.items())
                tally.different += len(found.keys() - expected.keys())
                tally.damaged += len(verify(store_of(folder)).findings)
            print(f"{name}: {seconds:.0f} s undisturbed, {tally.kills} of {args.kills} kills", flush=True)
    report.say(
        f"kill -9, driver and workers at once:      {tally.kills}",
        f"commands that were completed afterwards:  {tally.complete}",
        f"files, compared byte for byte:            {files}",
        f"files that are missing or differ:         {tally.different}",
        f"runs that were written twice:             {tally.rewritten}",
        f"findings of morl-blocks verify:           {tally.damaged}",
        f"tracebacks:                               {tally.tracebacks}",
    )
    made = {**dataclasses.asdict(tally), "files": files}
    report.write(made)
    return made


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
