"""Damage a store in hundreds of ways: is a number ever wrong, a foreign file touched, a traceback shown?

Each case takes a small whole store and damages or crafts one thing in it: cut and flipped files, files of other runs,
fields of the wrong kind with a right digest, sizes that fill the memory, links to somebody's files. Then it reads all
of it, prints its table, checks it with ``morl-blocks verify`` and continues the sweep.

Run ``python -m benchmarks.damage_campaign``; it prints what happened and writes it as JSON.
"""

import contextlib
import dataclasses
import io
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import tyro

from benchmarks import store_scale
from benchmarks._damage import cases
from benchmarks._report import Report
from benchmarks._strangers import fingerprint, plant
from morl_envs import make_batch
from morl_recipes.cli import main as command
from morl_recipes.common.errors import StoreError
from morl_recipes.common.text import for_terminal
from morl_recipes.running.engines.inline import InlineEngine
from morl_recipes.running.execute import run_sweep
from morl_recipes.running.plan import Job, make_plan
from morl_recipes.running.stored_runs import load_policy
from morl_recipes.running.sweep import sweep_from
from morl_recipes.store.frames import load_history, load_runs
from morl_recipes.store.record import RunRecord
from morl_recipes.store.store import Store

ITERATIONS, SHOWN = 3, 20
BUG = 70
FORGED = "policy"
"""What somebody makes who computes digests may be another policy; what counts is that it is met with a sentence."""


@dataclasses.dataclass(frozen=True)
class Args:
    """Damage a store in many ways."""

    out: Path = Path("benchmarks/results/damage_campaign.json")
    """Where to write the figures."""
    seed: int = 0
    """Seed of the places."""
    most: int | None = None
    """Cases to try; by default all."""


@dataclasses.dataclass
class Tally:
    """What happened; only the first three lines may have other numbers than 0."""

    cases: int = 0
    sentences: int = 0
    harmless: int = 0
    wrong_numbers: list[str] = dataclasses.field(default_factory=list)
    unnoticed: list[str] = dataclasses.field(default_factory=list)
    foreign: list[str] = dataclasses.field(default_factory=list)
    tracebacks: list[str] = dataclasses.field(default_factory=list)


def plan_of() -> Any:
    """Return the plan of the small store."""
    keys: dict[str, Any] = {"rows": ["PASTA", "Linear"], "envs": ["stealth"], "seeds": 1, "population": 2}
    preferences = [[0.1, 0.7, 0.2], [0.8, 0.1, 0.1]]
    return make_plan(sweep_from({**keys, "preferences": preferences, "total_steps": ITERATIONS * 2048}))


def work(population: Job, folder: Path | None, report: Callable[[int], None]) -> list[RunRecord]:
    """Train nothing."""
    return [store_scale.made_up(run, ITERATIONS) for run in population.runs]


def sweep(folder: Path) -> object:
    """Do what is missing."""
    return run_sweep(plan_of(), folder, InlineEngine(), work=work, progress=False, say=lambda text: None)


def numbers(folder: Path) -> dict[str, str]:
    """Return everything that readers can learn of the runs of a store, by run and kind; damaged ones have no entry."""
    found: dict[str, str] = {}
    for _, row in load_runs(folder, damaged="mark").iterrows():
        if row["status"] == "done":
            found[f"{row['run_id']} run"] = row.to_json()
    for run_id, rows in load_history(folder, damaged="mark").groupby("run_id"):
        found[f"{run_id} history"] = rows.to_csv(index=False)
    store = Store.open(folder)
    for run_id in store.run_ids():
        with contextlib.suppress(StoreError):
            found[f"{run_id} policy"] = str(
                sorted((name, tensor.tolist()) for name, tensor in store.policy(run_id).items())
            )
    return found


def attempt(act: Callable[[], object], name: str, tally: Tally) -> object:
    """Do something that may be refused with a sentence; anything else that is raised is an obscure error."""
    try:
        return act()
    except (StoreError, ValueError) as error:
        if for_terminal(str(error)) == str(error):
            return error
    except Exception as error:
        tally.tracebacks.append(f"{name}: {type(error).__name__}: {error}"[:200])
    return None


def ask(argv: list[str], name: str, tally: Tally) -> int:
    """Run a command and look for a traceback in what it prints."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = command(argv)
    if code == BUG or "Traceback" in errors.getvalue():
        tally.tracebacks.append(f"{name}: {argv[0]}: {errors.getvalue()[-200:]}")
    return code


def examine(name: str, folder: Path, expected: dict[str, str], tally: Tally) -> None:
    """Read, print, check and continue a damaged store."""
    found = attempt(lambda: numbers(folder), name, tally)
    learned: dict[str, str] = found if isinstance(found, dict) else {}
    forged = FORGED if name.startswith(f"{FORGED}.safetensors: crafted") else None
    wrong = [key for key, text in learned.items() if expected[key] != text and not key.endswith(forged or "\n")]
    codes = [ask(["table", str(folder), "--format", "csv"], name, tally), ask(["verify", str(folder)], name, tally)]
    if wrong:
        (tally.unnoticed if codes[1] == 0 else tally.wrong_numbers).append(f"{name}: {wrong[0]}")
    store = attempt(lambda: Store.open(folder), name, tally)
    if isinstance(store, Store):
        world = make_batch("stealth", 1)
        for row in load_runs(store, damaged="mark").to_dict("records"):
            attempt(partial(load_policy, store, row, "peak", world), name, tally)  # type: ignore[arg-type]
    done = attempt(partial(sweep, folder), name, tally)
    noticed = any(codes) or isinstance(done, Exception) or isinstance(found, Exception)
    tally.sentences += noticed
    tally.harmless += not noticed


def main(args: Args) -> dict[str, object]:
    """Run the campaign."""
    report, tally = Report(args.out), Tally()
    with tempfile.TemporaryDirectory() as temporary:
        whole, folder, theirs = (Path(temporary) / name for name in ("whole", "store", "theirs"))
        sweep(whole)
        expected, strangers = numbers(whole), fingerprint(plant(theirs))
        for name, damage in list(cases(args.seed))[: args.most]:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(whole, folder)
            damage(folder, theirs)
            tally.cases += 1
            examine(name, folder, expected, tally)
            if fingerprint(theirs) != strangers:
                tally.foreign.append(name)
                shutil.rmtree(theirs)
                strangers = fingerprint(plant(theirs))
    report.say(
        f"damaged and crafted stores:                {tally.cases}",
        f"  refused or reported with a sentence:     {tally.sentences}",
        f"  changed nothing that anybody reads:      {tally.harmless}",
        f"wrong numbers, though a check finds them:  {len(tally.wrong_numbers)}",
        f"wrong numbers that no check finds:         {len(tally.unnoticed)}",
        f"foreign files touched:                     {len(tally.foreign)}",
        f"tracebacks and obscure errors:             {len(tally.tracebacks)}",
    )
    for line in (*tally.wrong_numbers, *tally.unnoticed, *tally.foreign, *tally.tracebacks)[:SHOWN]:
        report.say(f"  {for_terminal(line)}")
    made = dataclasses.asdict(tally)
    report.write(made)
    return made


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
