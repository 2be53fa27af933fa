"""What does a second worker process bring? The same sweep on one and on two workers, in turns, in one run.

Each turn trains equal populations of PASTA on stealth visual search through the local engine. Throughput is environment
steps per second of all runs together, while every worker is at work: starting interpreters and the wait for the last
population do not count. Beside it stand the cores that the workers were given: where others use the machine, a turn
says nothing about the engine and is left out of the result.

Run ``python -m benchmarks.sweep_throughput`` on a machine that does nothing else; it prints a table and writes it as
JSON.
"""

import dataclasses
import multiprocessing
import os
import statistics
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import tyro

from benchmarks._report import Report
from morl_envs import CARDS
from morl_recipes.running.engines.job import train_job
from morl_recipes.running.engines.local import LocalEngine
from morl_recipes.running.plan import Job, make_plan
from morl_recipes.running.sweep import sweep_from

FAIR = 0.95


@dataclasses.dataclass(frozen=True)
class Args:
    """Time the local engine with one worker against two."""

    out: Path = Path("benchmarks/results/sweep_throughput.json")
    """Where to write the figures."""
    rounds: int = 3
    """Turns of each."""
    runs: int = 8
    """Runs per population."""
    iterations: int = 8
    """Iterations per run."""
    steps_per_iteration: int = 2048
    """Environment steps per iteration and run."""
    env: str = "stealth"
    """Environment."""


def populations(args: Args) -> list[Job]:
    """Make four equal populations."""
    keys = {
        "rows": ["PASTA"],
        "envs": [args.env],
        "preferences": CARDS[args.env].preferences[1:2] or CARDS[args.env].preferences,
        "seeds": 4 * args.runs,
        "total_steps": args.iterations * args.steps_per_iteration,
        "eval_every": args.iterations,
        "eval_episodes": 1,
        "ppo": {"steps_per_iteration": args.steps_per_iteration},
    }
    return make_plan(sweep_from(keys)).populations(args.runs)


class Turn(NamedTuple):
    """One measurement: environment steps per second, and how many cores the workers were given meanwhile."""

    rate: float
    cores: float


def worker_seconds() -> float:
    """Return the processor time of all workers so far (Linux)."""
    ticks = 0
    for process in multiprocessing.active_children():
        with suppress(OSError):
            fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(jobs: list[Job], workers: int) -> Turn:
    """Train populations, and count from where all workers are at work to where the first has nothing left to do."""
    done: dict[str, int] = {}
    samples: list[tuple[float, float, int]] = []

    def watch(name: str, steps: int) -> None:
        done[name] = steps
        if len(done) >= workers:
            samples.append((time.perf_counter(), worker_seconds(), sum(done.values())))

    for ended, event in enumerate(LocalEngine(workers).run(jobs, train_job, None, watch), start=1):
        if not hasattr(event, "records"):
            raise RuntimeError(f"{event.name}: {event.reason}")
        if ended == len(jobs) - workers + 1:
            break
    (start, busy_before, before), (end, busy_after, after) = samples[0], samples[-1]
    return Turn((after - before) / (end - start), (busy_after - busy_before) / (end - start))


def main(args: Args) -> dict[str, object]:
    """Time both in turns, print the table, write the JSON and return it."""
    jobs, report = populations(args), Report(args.out)
    turns: dict[int, list[Turn]] = {1: [], 2: []}
    report.say(f"{'turn':>5}{'1 worker [steps/s]':>20}{'cores':>7}{'2 workers [steps/s]':>21}{'cores':>7}{'ratio':>8}")
    for turn in range(args.rounds):
        for workers in turns:
            turns[workers].append(measure(jobs, workers))
        (one, share), (two, both) = turns[1][-1], turns[2][-1]
        report.say(f"{turn:>5}{one:>20.0f}{share:>7.2f}{two:>21.0f}{both:>7.2f}{two / one:>8.2f}")
    ratios = [two.rate / one.rate for one, two in zip(turns[1], turns[2], strict=True)]
    fair = [
        ratio
        for ratio, one, two in zip(ratios, turns[1], turns[2], strict=True)
        if one.cores >= FAIR and two.cores >= 2 * FAIR
    ]
    words = f"{statistics.median(fair):.2f} times the throughput" if fair else "unknown: the machine was busy"
    report.say(f"two workers: {words} (median of the {len(fair)} turns in which every worker had {FAIR:.0%} of a core)")
    results: dict[str, object] = {
        "steps_per_second": {f"{workers} workers": [turn.rate for turn in turns[workers]] for workers in turns},
        "cores_used": {f"{workers} workers": [turn.cores for turn in turns[workers]] for workers in turns},
        "ratios": ratios,
        "ratio_on_a_quiet_machine": statistics.median(fair) if fair else None,
        "cores": os.cpu_count(),
        "runs_per_population": args.runs,
    }
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
