"""How fast is training, against Stable-Baselines3, morl-baselines and a straightforward PASTA, on one thread?

All in one run and taken in turns, so that a busy machine slows everybody alike; the best turn counts. Hyper-parameters
of the paper: 2048 steps per iteration, 10 epochs, minibatches of 64, networks of 64 x 64.

1. Environment steps per second of training on a free dummy environment (33 observations, 2 actions, 3 objectives) and
   on the stealth world: ours with R = 1, 8, 40 runs, eager and compiled; SB3's ``PPO`` on the summed reward and
   morl-baselines' ``MOPPO``, each with 1 environment (SB3's default) and with 8; and PASTA for one run as a user would
   write it, with m backward passes.
2. The update alone, per run, for growing R and m, and the share of the machine's matrix multiplication rate it reaches.
3. Peak memory of a process that trains 40 runs.

Run ``python -m benchmarks.training_speed`` (extra ``bench``); it prints tables and writes ``training_speed.json``.
"""

import contextlib
import io
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import gymnasium
import torch
import tyro
from torch.utils.flop_counter import FlopCounterMode

from benchmarks._alone import alone
from benchmarks._dummy import ACTIONS, OBSERVATIONS, DummyEnv, dummy
from benchmarks._peers import MakeEnv, morl_baselines, stable_baselines
from benchmarks._plain_pasta import PlainPasta, random_batch
from benchmarks._report import Report
from benchmarks._timing import interleaved
from morl_envs.source import find_source
from morl_recipes import PASTA, EnvSource, Recipe, Run
from morl_recipes.learning.adam import step_sizes
from morl_recipes.learning.batch import Batch
from morl_recipes.learning.iteration import RECORD
from morl_recipes.learning.minibatch import Hyper, Rows, minibatches
from morl_recipes.learning.targets import gae, targets_of
from morl_recipes.recipe.settings import Settings
from morl_recipes.recipe.specs import Shared

STEPS, MINIBATCH = 2048, 64
Results = dict[str, Any]


@dataclass(frozen=True)
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


Form = Literal["fast", "generic"]


def batch(
    runs: int, m: int, source: EnvSource, *, compiled: bool, recipe: Recipe = PASTA, form: Form = "fast"
) -> Batch:
    """Return a batch of runs of one recipe."""
    made = [Run(recipe, (1 / m,) * m, seed) for seed in range(runs)]
    return Batch(made, source, Settings(total_steps=10**6, compile=compiled, update=form))


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
            own = batch(runs, m, source, compiled=compiled)
            contenders[f"ours R={runs} {mode}"] = runs, own.iterate
    make: MakeEnv = DummyEnv if world == "dummy" else stealth_env
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


def stealth_env() -> gymnasium.Env[Any, Any]:
    """Make the stealth world as a Gymnasium environment."""
    return gymnasium.make("morl_envs/StealthVisualSearch-v0", disable_env_checker=True)


def _silent(function: Callable[[], None]) -> Callable[[], None]:
    def quiet() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            function()

    return quiet


def update_call(
    runs: int, m: int, *, compiled: bool, recipe: Recipe = PASTA, form: Form = "fast"
) -> tuple[Callable[[], None], int]:
    """Return one update of a batch's minibatch, and its matrix-product operations per run."""
    own = batch(runs, m, dummy(m), compiled=compiled, recipe=recipe, form=form)
    own.chunk = runs
    with torch.no_grad():
        draws = own.draw()
        rollout = own.collector.collect(own.actor.params, draws.noise, None)
        data = own.samples(rollout, targets_of(own, rollout, gae(own, rollout)))
    record, update = torch.zeros(runs, len(RECORD)), own.update_of(slice(0, runs))
    hyper = Hyper(*(own.hyper[name] for name in Hyper._fields))
    minibatch = next(minibatches(data, draws.rows[:1], hyper, own.combine.weigh, standardise=False))
    data_of_step = Rows(data, draws.rows[0]) if compiled else minibatch
    noise = None if draws.combiner is None else draws.combiner[0]
    (size,) = step_sizes(own.hyper["learning_rate"], 9, 1).steps(slice(0, runs))
    eager = own.learner.update(own.combine).step

    @torch.no_grad()
    def call() -> None:
        update.step(own.actor, own.critic, data_of_step, noise, hyper, size, record)

    with FlopCounterMode(display=False) as counter, torch.no_grad():
        eager(own.actor, own.critic, minibatch, noise, hyper, size, record)
    return call, counter.get_total_flops() // runs


def updates(args: Args) -> Results:
    """Return milliseconds per run and update for growing R (m = 3) and growing m.

    The branched critic of PASTA has one head of 64 units per objective, so its arithmetic grows with m whatever one
    does; the same update with a shared critic shows what the combination of the objectives itself costs.
    """
    cases = [(runs, 3, PASTA) for runs in args.sizes] + [(runs, m, PASTA) for runs in args.scaling for m in (2, 4, 8)]
    cases += [(runs, m, replace(PASTA, critic=Shared())) for runs in args.scaling for m in (2, 8)]
    rivals: dict[str, Callable[[], object]] = {}
    operations: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for mode, compiled in modes(args):
        for runs, m, recipe in dict.fromkeys(cases):
            name = f"ours R={runs} m={m} {mode}{'' if recipe is PASTA else ', shared critic'}"
            rivals[name], operations[name] = update_call(runs, m, compiled=compiled, recipe=recipe)
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
            result[name] |= {"mflop": operations[name] / 1e6, "share_of_sgemm": operations[name] / per_run / rate}
    return result


def _bound(function: Callable[[dict[str, torch.Tensor]], None], batch: dict[str, torch.Tensor]) -> Callable[[], None]:
    return lambda: function(batch)


MEMORY = """
import torch
from benchmarks.training_speed import batch
from morl_envs.source import find_source
from benchmarks._dummy import dummy
torch.set_num_threads(1)
own = batch({runs}, 3, {source}, compiled=False)
own.iterate()
"""


def memory(args: Args, world: str) -> float:
    """Return the peak memory in GiB of a process that trains the largest batch for one iteration."""
    source = "dummy(3)" if world == "dummy" else f"find_source({world!r})"
    code = MEMORY.format(runs=max(args.runs), source=source)
    return alone([sys.executable, "-c", code]).megabytes / 1024


def training_ratios(speed: dict[str, float]) -> Results:
    """Return how many times as fast as each other package ours is, on one environment."""
    peers = {name: rate for name, rate in speed.items() if name.startswith(("SB3", "MOPPO"))}
    ours = {name: rate for name, rate in speed.items() if name.startswith("ours")}
    return {name: {peer: rate / other for peer, other in peers.items()} for name, rate in ours.items()}


def update_ratios(args: Args, update: Results) -> Results:
    """Return how our update compares with the straightforward one, and how both grow with the objectives."""
    result: Results = {}
    for mode, _ in modes(args):
        best = min(update[f"ours R={runs} m=3 {mode}"]["ms_per_run"] for runs in args.sizes)
        result[f"plain / our best R, m=3, {mode}"] = update["plain m=3"]["ms_per_run"] / best
    growing = [f"ours R={runs} m={{}} {mode}" for mode, _ in modes(args) for runs in args.scaling]
    for name in (*growing, *(f"{name}, shared critic" for name in growing), "plain m={}"):
        few, many = update[name.format(2)], update[name.format(8)]
        kinds = {"time": "ms_per_run"} | ({"arithmetic": "mflop"} if "mflop" in few else {})
        result |= {
            f"m=8 / m=2, {kind}: {name.replace(' m={}', '')}": many[key] / few[key] for kind, key in kinds.items()
        }
    return result


def main(args: Args) -> Results:
    """Time everything, print the tables, write the JSON and return it."""
    torch.set_num_threads(1)
    update = updates(args)
    speed = {world: training(args, world) for world in args.worlds}
    report = Report(args.out)
    ratios = {world: training_ratios(best) for world, best in speed.items()}
    results: Results = {
        "machine": {"processor": platform.processor() or platform.machine(), "torch": torch.__version__},
        "steps_per_second": speed,
        "ratios": ratios,
        "update": update,
        "update_ratios": update_ratios(args, update),
        "peak_memory_gib": {world: memory(args, world) for world in args.worlds},
    }
    for world, best in speed.items():
        report.say(f"\n{world}: environment steps per second, and as a ratio to")
        report.say(f"{'':42s}" + "".join(f"{peer:>16s}" for peer in next(iter(ratios[world].values()))))
        for name, rate in best.items():
            cells = "".join(f"{ratio:15.1f}x" for ratio in ratios[world].get(name, {}).values())
            report.say(f"  {name:28s} {rate:10.0f} {cells}")
    for title, table in (("update", results["update_ratios"]), ("memory, GiB", results["peak_memory_gib"])):
        report.say(f"\n{title}")
        for name, value in table.items():
            report.say(f"  {name:64s} {value:8.2f}")
    report.say(f"\nupdate, ms per run (share of the SGEMM rate, {update['sgemm_gflops']:.0f} GFLOP/s)")
    for name, row in update.items():
        if isinstance(row, dict):
            share = f"{row['share_of_sgemm']:8.0%}" if "share_of_sgemm" in row else ""
            report.say(f"  {name:48s} {row['ms_per_run']:12.3f} {share}")
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
