"""Golden values: do run ids, trainings, tables and old stores still give what version 0.2 gave?

Run ``python -m benchmarks.golden --check`` for all of it (minutes); ``make test`` has the cheap part. After a change
that is meant to alter numbers, run ``python -m benchmarks.golden --record PART`` and say so in the changelog. The
folder ``stores`` is never made again: it is what an older version left behind.
"""

import dataclasses
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import torch
import tyro

from benchmarks import _golden_stores as stores
from benchmarks import _golden_trainings as trainings
from morl_recipes.common.atomic_files import staged

GOLDEN = Path(__file__).parents[1] / "tests" / "golden"
WIDTH = "160"
PUBLISHED = ("stealth-200k", "stealth-200k-repeat", "stealth-1m")
"""Published tables that are complete: their bytes never change."""
FORMATS = {"stealth-200k": ("terminal", "markdown", "csv", "latex")}
"""Formats in which a published table is printed; only for the terminal unless it stands here."""
RTOL, ATOL = 1e-3, 1e-4
"""How far a compiled update, or another machine, may be from the values: as in the tests of the batch."""
Part = Literal["run_ids", "trainings", "tables", "stores"]


def recorded(part: str) -> Any:
    """Return the golden values of a part."""
    return json.loads((GOLDEN / f"{part}.json").read_text())


def write(part: str, values: Any) -> None:
    """Replace the golden values of a part."""
    with staged(GOLDEN / f"{part}.json") as temporary:
        temporary.write_text(json.dumps(values, indent=1) + "\n")


def table(name: str, how: str) -> str:
    """Return the digest of a published table as it is printed, 160 columns wide."""
    os.environ["COLUMNS"] = WIDTH
    return trainings.digest([stores.printed("table", "--results", name, "--format", how).encode()])


def tables() -> dict[str, Callable[[], str]]:
    """Return every published table by name and format."""
    return {
        f"{name}, {how}": lambda n=name, h=how: table(n, h)  # type: ignore[misc]
        for name in PUBLISHED
        for how in FORMATS.get(name, ("terminal",))
    }


def exact() -> bool:
    """Whether this machine rounds as the one did on which the trainings were recorded."""
    return bool(recorded("trainings")["machine"] == trainings.machine())


def differences(name: str, new: dict[str, Any], *, bits: bool = True) -> list[str]:
    """Say in what a training differs from its golden values; columns that were added since are not looked at.

    Args:
        name: Name of the training.
        new: Its values.
        bits: Compare every bit; otherwise the last values, up to a tolerance.
    """
    old = recorded("trainings")["values"][name]
    if not bits:
        return [
            f"{key}: {new['last'][key]}, was {was}" for key, was in old["last"].items() if _far(new["last"][key], was)
        ]
    found = [f"column {key}" for key, mark in old.get("columns", {}).items() if new["columns"].get(key) != mark]
    return found + [key for key, value in old.items() if key != "columns" and new[key] != value]


def _far(new: list[float | None], old: list[float | None]) -> bool:
    one, other = (torch.tensor([float("nan") if x is None else x for x in numbers]) for numbers in (new, old))
    return not torch.allclose(one, other, rtol=RTOL, atol=ATOL, equal_nan=True)


def read_difference(name: str) -> list[str]:
    """Say in what ``table``, ``verify`` and ``play`` of an old store differ from what version 0.2 said."""
    old, new = recorded("stores")["read"][name], stores.read(name)
    same = new["play"] == old["play"] if exact() else not _far(new["play"], old["play"])
    return [key for key in ("table", "verify") if new[key] != old[key]] + ["play"] * (not same)


def resume_difference(name: str) -> list[str]:
    """Name the files in which an old interrupted training, continued, differs from what it was continued to before."""
    old, new = recorded("stores")["whole"][name], stores.resume(name)
    return sorted(
        key for key in old.keys() | new.keys() if (old.get(key) != new.get(key) and exact()) or key not in new
    )


def check() -> Iterator[tuple[str, list[str]]]:
    """Yield every check with what differs."""
    for env in trainings.WORLDS:
        new, old = trainings.run_ids(env), recorded("run_ids")[env]
        yield f"run ids, {env}", [run_id for run_id in old if run_id not in new]
    for name, train in trainings.trainings().items():
        yield name, differences(name, train(), bits=exact())
    compiled = trainings.training("PASTA", "toy", "fast", compile=True)
    yield "PASTA, toy, compiled", differences("PASTA, toy, fast", compiled, bits=False)
    for name, say in tables().items():
        yield f"table {name}", [] if say() == recorded("tables")[name] else ["its text"]
    for name in stores.NAMES:
        yield f"read the store of {name}", read_difference(name)
        yield f"resume the store of {name}", resume_difference(name)


def record(part: Part) -> None:
    """Write the values of a part anew."""
    if part == "run_ids":
        write(part, {env: trainings.run_ids(env) for env in trainings.WORLDS})
    elif part == "trainings":
        values = {name: train() for name, train in trainings.trainings().items()}
        write(part, {"machine": trainings.machine(), "values": values})
    elif part == "tables":
        write(part, {name: say() for name, say in tables().items()})
    else:
        whole = {name: stores.resume(name) for name in stores.NAMES}
        write(part, {"read": {name: stores.read(name) for name in stores.NAMES}, "whole": whole})


@dataclasses.dataclass(frozen=True)
class Args:
    """Compare with the golden values, or write them anew."""

    check: bool = False
    """Compare everything, and exit with 1 if something differs."""
    record: Part | None = None
    """Write the values of one part anew; "stores" reads and continues the fixtures, it does not make them."""


def main(args: Args) -> int:
    """Do what was asked for."""
    torch.set_num_threads(1)
    if args.record is not None:
        record(args.record)
    failed = 0
    for name, found in check() if args.check else ():
        failed += bool(found)
        print(f"{name}: {'same' if not found else 'DIFFERS in ' + ', '.join(found)}", flush=True)
    if args.check:
        print(f"{failed} differ." if failed else "All is as recorded.", f"Bits were compared: {exact()}.")
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main(tyro.cli(Args)))
