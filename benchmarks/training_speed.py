"""How fast is training, against Stable-Baselines3, morl-baselines and a straightforward PASTA, on one thread?

All in one run and taken in turns, so that a busy machine slows everybody alike; the best turn counts. Hyper-parameters
of the paper: 2048 steps per iteration, 10 epochs, minibatches of 64, networks of 64 x 64.

1. Environment steps per second of training on a free dummy environment (33 observations, 2 actions, 3 objectives) and
   on the stealth world: ours with R = 1, 8, 40 runs, eager and compiled; SB3's ``PPO`` on the summed reward and
   morl-baselines' ``MOPPO``, each with 1 and with 8 environments (the faster counts); and PASTA for one run as a user
   would write it, with m backward passes.
2. The update alone, per run, for growing R and m, and the share of the machine's matrix multiplication rate it reaches.
3. Peak memory of a process that trains 40 runs.

Run ``python -m benchmarks.training_speed`` (extra ``bench``); it prints tables and writes ``training_speed.json``.
"""

import contextlib
import dataclasses
import io
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import torch
import tyro
from torch.utils.flop_counter import FlopCounterMode

from benchmarks._dummy import ACTIONS, OBSERVATIONS, DummyEnv, dummy
from benchmarks._peers import MakeEnv, morl_baselines, stable_baselines
from benchmarks._plain_pasta import PlainPasta, random_batch
from benchmarks._timing import interleaved
from morl_recipes import PASTA, EnvSource, Run
from morl_recipes.envs import find_source
from morl_recipes.population.population import Population
from morl_recipes.population.update import RECORD, fuse

STEPS, MINIBATCH = 2048, 64
Results = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Args:
    """Time training and updates."""

    out: Path = Path("benchmarks/results/training_speed.json")
    """Where to write the figures."""
    rounds: int = 4
    """Turns per contender in the training part; the best one counts."""
    runs: tuple[int, ...] = (1, 8, 40)
    """Population sizes of the training part."""
    sizes: tuple[int, ...] = (1, 4, 8, 16, 40)
    """Population sizes of the update part, with three objectives."""
    scaling: tuple[int, ...] = (1, 8)
    """Population sizes for which the number of objectives grows."""
    peers: bool = True
    """Measure the other packages too."""
    compiled: bool = True
    """Measure the compiled update too."""
    worlds: tuple[str, ...] = ("dummy", "stealth")
    """Environments of the training part."""


def population(runs: int, m: int, source: EnvSource, *, compiled: bool) -> Population:
    """Return a population of PASTA runs."""
    made = [Run(PASTA, (1 / m,) * m, seed) for seed in range(runs)]
    return Population(made, source, total_steps=10**6, compile=compiled)


def modes(args: Args) -> list[tuple[str, bool]]:
    """Return the ways to run our update."""
    return [("eager", False), *([("compiled", True)] if args.compiled else [])]


def training(args: Args, world: str) -> Results:
    """Return environment steps per second of every contender on one environment."""
    m = 3
    source = dummy(m) if world == "dummy" else find_source(world)
    contenders: dict[str, tuple[int, Callable[[], object]]] = {}
    for mode, compiled in modes(args):
        for runs in args.runs:
            own = population(runs, m, source, compiled=compiled)
            contenders[f"ours R={runs} {mode}"] = runs, own.iterate
    make: MakeEnv = DummyEnv if world == "dummy" else _stealth
    size = OBSERVATIONS if world == "dummy" else 30
    contenders["plain PASTA"] = 1, PlainPasta(make(), size, ACTIONS, m).iterate
    if args.peers:
        for envs in (1, 8):
            contenders[f"SB3 PPO, {envs} env"] = 1, stable_baselines(make, envs)
            contenders[f"MOPPO, {envs} env"] = 1, _silent(morl_baselines(make, envs, m))
    best = dict.fromkeys(contenders, 0.0)
    for turn in range(args.rounds + 1):
        for name, (runs, iterate) in contenders.items():
            start = time.perf_counter()
            iterate()
            if turn:  # the first one warms up and compiles
                best[name] = max(best[name], runs * STEPS / (time.perf_counter() - start))
    return best


def _stealth() -> gymnasium.Env[Any, Any]:
    return gymnasium.make("morl_envs/StealthVisualSearch-v0", disable_env_checker=True)


def _silent(function: Callable[[], None]) -> Callable[[], None]:
    def quiet() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            function()

    return quiet


def update_call(runs: int, m: int, *, compiled: bool) -> tuple[Callable[[], None], int]:
    """Return one update of a population's minibatch, and its matrix-product operations per run."""
    own = population(runs, m, dummy(m), compiled=False)
    data = torch.randn(runs, STEPS, sum(own.columns))
    data[..., own.columns.inputs + own.columns.action] = -1.0
    rows = torch.randint(STEPS, (runs, MINIBATCH)) + torch.arange(runs).unsqueeze(-1) * STEPS
    order, size, correction = torch.rand(runs, m, m).argsort(-1), torch.full((runs, 1), 3e-4), torch.tensor(0.5)
    record, numbers = torch.zeros(runs, len(RECORD)), own._numbers(slice(0, runs))
    step = fuse(own.update.step, own.device) if compiled else own.update.step

    @torch.no_grad()
    def call() -> None:
        step(own.actor, own.critic, data, rows, order, numbers, size, correction, record)

    with FlopCounterMode(display=False) as counter, torch.no_grad():
        own.update.step(own.actor, own.critic, data, rows, order, numbers, size, correction, record)
    return call, counter.get_total_flops() // runs


def updates(args: Args) -> Results:
    """Return milliseconds per run and update, for growing R (m = 3) and growing m (R = 1 and 8)."""
    cases = [(runs, 3) for runs in args.sizes] + [(runs, m) for runs in args.scaling for m in (2, 4, 8)]
    rivals: dict[str, Callable[[], object]] = {}
    operations: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for mode, compiled in modes(args):
        for runs, m in dict.fromkeys(cases):
            name = f"ours R={runs} m={m} {mode}"
            rivals[name], operations[name] = update_call(runs, m, compiled=compiled)
            sizes[name] = runs
    for m in (2, 3, 4, 8):
        plain, batch = PlainPasta(None, OBSERVATIONS, ACTIONS, m), random_batch(OBSERVATIONS, ACTIONS, m)
        rivals[f"plain m={m}"] = _bound(plain.update, batch)
    left, right = torch.randn(2, 512, 512)
    rivals["sgemm"] = lambda: left @ right
    seconds = interleaved(rivals, rounds=10 * args.rounds, calls=3)
    rate = 2 * 512**3 / seconds.pop("sgemm")
    result: Results = {"sgemm_gflops": rate / 1e9}
    for name, time_per_call in seconds.items():
        per_run = time_per_call / sizes.get(name, 1)
        result[name] = {"ms_per_run": per_run * 1e3}
        if name in operations:
            result[name]["share_of_sgemm"] = operations[name] / per_run / rate
    return result


def _bound(function: Callable[[dict[str, torch.Tensor]], None], batch: dict[str, torch.Tensor]) -> Callable[[], None]:
    return lambda: function(batch)


MEMORY = """
import resource, torch
from benchmarks.training_speed import population
from morl_recipes.envs import find_source
from benchmarks._dummy import dummy
torch.set_num_threads(1)
own = population({runs}, 3, {source}, compiled=False)
own.iterate()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


def memory(args: Args, world: str) -> float:
    """Return the peak memory in GiB of a process that trains the largest population for one iteration."""
    source = "dummy(3)" if world == "dummy" else f"find_source({world!r})"
    code = MEMORY.format(runs=max(args.runs), source=source)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def ratios(speed: Results, update: Results) -> Results:
    """Return the figures that the project holds itself to."""
    result: Results = {}
    for world, best in speed.items():
        ours = {name: value for name, value in best.items() if name.startswith("ours")}
        for peer in ("SB3 PPO", "MOPPO"):
            rates = [value for name, value in best.items() if name.startswith(peer)]
            if rates:
                result |= {f"{world}: {name} / {peer}": value / max(rates) for name, value in ours.items()}
    own = {n: v["ms_per_run"] for n, v in update.items() if n.startswith("ours")}
    for mode in ("eager", "compiled"):
        best_r = min((v for n, v in own.items() if f" m=3 {mode}" in n), default=None)
        if best_r is not None:
            result[f"plain update / our best update, m=3, {mode}"] = update["plain m=3"]["ms_per_run"] / best_r
        for runs in (1, 8):
            few, many = (own.get(f"ours R={runs} m={m} {mode}") for m in (2, 8))
            if few is not None and many is not None:
                result[f"update at m=8 / at m=2, R={runs}, {mode}"] = many / few
    result["plain update at m=8 / at m=2"] = update["plain m=8"]["ms_per_run"] / update["plain m=2"]["ms_per_run"]
    return result


def main(args: Args) -> Results:
    """Time everything, print the tables, write the JSON and return it."""
    torch.set_num_threads(1)
    update = updates(args)
    speed = {world: training(args, world) for world in args.worlds}
    results: Results = {
        "machine": {"processor": platform.processor() or platform.machine(), "torch": torch.__version__},
        "steps_per_second": speed,
        "update": update,
        "ratios": ratios(speed, update),
        "peak_memory_gib": {world: memory(args, world) for world in args.worlds},
    }
    for title, table in (*speed.items(), ("ratios", results["ratios"]), ("memory, GiB", results["peak_memory_gib"])):
        print(f"\n{title}")
        for name, value in table.items():
            print(f"  {name:48s} {value:12.2f}")
    print(f"\nupdate, ms per run (share of the SGEMM rate, {update['sgemm_gflops']:.0f} GFLOP/s)")
    for name, row in update.items():
        if isinstance(row, dict):
            share = f"{row['share_of_sgemm']:8.0%}" if "share_of_sgemm" in row else ""
            print(f"  {name:48s} {row['ms_per_run']:12.3f} {share}")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(results, indent=2) + "\n")
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
