"""What does a second worker process bring? The same sweep on one and on two workers, in turns, in one run.

Each turn trains equal populations of PASTA on stealth visual search through the local engine. Throughput is environment
steps per second of all runs together, from the moment every worker has reported its first iteration (so that starting
interpreters does not count) to the end.

Run ``python -m benchmarks.sweep_throughput`` on a machine that does nothing else; it prints a table and writes it as
JSON.
"""

import dataclasses
import json
import os
import statistics
import time
from pathlib import Path

import tyro

from morl_envs import CARDS
from morl_recipes.sweep import LocalEngine, Population, make_plan, sweep_from, train_population


@dataclasses.dataclass(frozen=True)
class Args:
    """Time the local engine with one worker against two."""

    out: Path = Path("benchmarks/results/sweep_throughput.json")
    """Where to write the figures."""
    rounds: int = 3
    """Turns of each; medians count."""
    runs: int = 8
    """Runs per population."""
    iterations: int = 8
    """Iterations per run."""
    steps_per_iteration: int = 2048
    """Environment steps per iteration and run."""
    env: str = "stealth"
    """Environment."""


def populations(args: Args) -> list[Population]:
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


def throughput(jobs: list[Population], workers: int) -> float:
    """Return environment steps per second, once all workers are at work."""
    done: dict[str, int] = {}
    started: tuple[float, int] | None = None

    def watch(name: str, steps: int) -> None:
        nonlocal started
        done[name] = steps
        if started is None and len(done) == workers:
            started = time.perf_counter(), sum(done.values())

    for event in LocalEngine(workers).run(jobs, train_population, None, watch):
        if not hasattr(event, "records"):
            raise RuntimeError(f"{event.name}: {event.reason}")
    end = time.perf_counter()
    if started is None:
        raise RuntimeError("the workers never worked at the same time")
    return (sum(done.values()) - started[1]) / (end - started[0])


def main(args: Args) -> dict[str, object]:
    """Time both in turns, print the table, write the JSON and return it."""
    jobs = populations(args)
    rates: dict[int, list[float]] = {1: [], 2: []}
    load = os.getloadavg()[0]
    print(f"{'turn':>5}{'1 worker [steps/s]':>20}{'2 workers [steps/s]':>21}{'ratio':>8}")
    for turn in range(args.rounds):
        for workers in rates:
            rates[workers].append(throughput(jobs, workers))
        print(f"{turn:>5}{rates[1][-1]:>20.0f}{rates[2][-1]:>21.0f}{rates[2][-1] / rates[1][-1]:>8.2f}")
    ratio = statistics.median(rates[2]) / statistics.median(rates[1])
    print(f"medians: {ratio:.2f} times the throughput with two workers (load of the machine before: {load:.1f})")
    results: dict[str, object] = {
        "steps_per_second_1_worker": rates[1],
        "steps_per_second_2_workers": rates[2],
        "ratio_of_medians": ratio,
        "cores": os.cpu_count(),
        "load_before": load,
        "runs_per_population": args.runs,
    }
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(results, indent=2) + "\n")
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
