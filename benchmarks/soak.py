"""Does memory stay flat while a sweep trains for an hour and somebody reads it every minute?

A sweep of many small runs of PASTA and Linear trains in one worker. Every minute ``morl-blocks report`` reads the store
while it is written. After the hour the sweep is stopped, and ``morl-blocks verify`` reads all of it.

Memory is the resident set of the driver, of the worker and of each report's process; files are the open descriptors.
Growth is the largest value of the last sixth less the largest value of the second sixth, in per cent: the first sixth
is for warming up. A report holds the numbers of all runs that are there, so its memory is shown beside their number.

Run ``nice -n 10 python -m benchmarks.soak``; it prints a table and writes it as JSON.
"""

import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tyro

from benchmarks._report import Report
from morl_recipes.store.verify import verify

SWEEP = ("--rows", "PASTA", "Linear", "--envs", "deep-sea-treasure-v0", "--preferences", "0.5,0.5", "--population", "4")
SHORT = ("--num-envs", "4", "--eval-every", "2", "--eval-episodes", "2", "--total-steps", "20480", "--num-seeds", "800")
MIB = 2**20


@dataclasses.dataclass(frozen=True)
class Args:
    """Train for a while, and read what is there every minute."""

    out: Path = Path("benchmarks/results/soak.json")
    """Where to write the figures."""
    minutes: int = 60
    """How long."""
    every: float = 60.0
    """Seconds between two reports."""


@dataclasses.dataclass(frozen=True)
class Sample:
    """What was seen at one time; memory in MiB."""

    minute: float
    runs: int
    driver: float
    worker: float
    driver_files: int
    worker_files: int
    report: float
    report_failed: bool


def descendants(process: int) -> list[int]:
    """Return the ids of all processes below one."""
    children = [int(word) for task in Path(f"/proc/{process}/task").iterdir() for word in _words(task / "children")]
    return [one for child in children for one in (child, *descendants(child))]


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except FileNotFoundError:
        return []


def resident(process: int) -> float:
    """Return the resident memory of a process in MiB."""
    return int(_words(Path(f"/proc/{process}/statm"))[1]) * os.sysconf("SC_PAGE_SIZE") / MIB


def files(process: int) -> int:
    """Count the open descriptors of a process."""
    return sum(1 for _ in Path(f"/proc/{process}/fd").iterdir())


def read(store: Path, page: Path) -> tuple[float, bool]:
    """Write a report in a process of its own; return its largest memory in MiB, and whether it failed."""
    command = [sys.executable, "-m", "morl_recipes", "report", str(store), "--out", str(page)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        errors = process.stderr.read() if process.stderr is not None else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        print(errors.decode(), file=sys.stderr)
    return usage.ru_maxrss * 1024 / MIB, process.returncode != 0


def finished(store: Path) -> int:
    """Count the runs that are there."""
    return sum(1 for _ in (store / "runs").iterdir()) if (store / "runs").is_dir() else 0


def sample(begin: float, sweep: int, store: Path, page: Path) -> Sample:
    """Look at everything once; the worker is the largest process below the driver."""
    memory, failed = read(store, page)
    worker = max(descendants(sweep), key=resident)
    sizes = (round(resident(sweep), 1), round(resident(worker), 1), files(sweep), files(worker))
    return Sample(round((time.monotonic() - begin) / 60, 1), finished(store), *sizes, round(memory, 1), failed)


def growth(values: list[float]) -> float:
    """Return how much larger the last sixth is than the second, in per cent."""
    sixth = max(1, len(values) // 6)
    return 100 * (max(values[-sixth:]) / max(values[sixth : 2 * sixth]) - 1)


def main(args: Args) -> dict[str, object]:
    """Run the soak."""
    report, samples = Report(args.out), list[Sample]()
    report.say("minute   runs  driver MiB  worker MiB  files  report MiB")
    with tempfile.TemporaryDirectory() as temporary:
        store, page = Path(temporary) / "store", Path(temporary) / "report.html"
        command = [sys.executable, "-m", "morl_recipes", "sweep", *SWEEP, *SHORT, "--workers", "1", "--quiet"]
        begin = time.monotonic()
        with subprocess.Popen([*command, "--out", str(store)], stdout=subprocess.DEVNULL) as sweep:
            while time.monotonic() - begin < 60 * args.minutes:
                time.sleep(args.every)
                if not finished(store) and sweep.poll() is None:
                    continue  # there is nothing to report on yet
                if sweep.poll() is not None:
                    raise RuntimeError(f"the sweep ended early, with exit code {sweep.returncode}")
                one = sample(begin, sweep.pid, store, page)
                samples.append(one)
                cells = f"{one.driver:>11.1f} {one.worker:>11.1f} {one.driver_files + one.worker_files:>6}"
                report.say(f"{one.minute:>6.1f} {one.runs:>6} {cells} {one.report:>11.1f}")
            sweep.send_signal(signal.SIGTERM)  # a shell lets what it starts in the background ignore Ctrl-C
        findings = verify(store).findings
    results = {
        "driver grew by, %": round(growth([one.driver for one in samples]), 1),
        "worker grew by, %": round(growth([one.worker for one in samples]), 1),
        "descriptors grew by": samples[-1].driver_files + samples[-1].worker_files
        - samples[0].driver_files - samples[0].worker_files,
        "reports": len(samples),
        "reports that failed": sum(one.report_failed for one in samples),
        "runs": samples[-1].runs,
        "exit code after SIGTERM": sweep.returncode,
        "findings of morl-blocks verify": len(findings),
    }  # fmt: skip
    report.say("", *(f"{name + ':':<33}{value}" for name, value in results.items()))
    report.write(results | {"samples": [dataclasses.asdict(one) for one in samples]})
    return results


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
