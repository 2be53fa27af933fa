"""Do the tests notice small faults? Put them into the functions one by one and run the tests that reach each.

Which functions a test reaches is traced once for each test and kept in ``build/``. Of the tests that reach a fault, the
nearest run first, and the first failure ends them.

- *killed*: a test failed, did not end in time (*late*), or the interpreter was lost (*late*, too);
- *equal*: nothing noticed it, and ``mutants_equal.json`` says why nobody could;
- *survived*: nothing noticed it.

As a check of the check, some lists of tests run without a fault: *controls*, which no test may kill.

Every verdict is kept in ``build/``, too, so that a run that was stopped continues where it was: until it has ended, and
while a mutant's file is the same.

Run ``make mutants``; Linux and Python 3.11 or newer. ``--workers 2`` tries two mutants at once,
``--only 'morl_blocks/ppo/*'`` the files of a glob alone, ``--survivors`` what survived before; what was tried again
takes the place of what was found before.
"""

import collections
import dataclasses
import hashlib
import json
import random
import time
from collections.abc import Sequence
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tyro

from benchmarks._mutant_tests import LATE, LOST, Runner, module, spread
from benchmarks._mutations import Mutant, choose, mutants_of, mutated, read
from benchmarks._report import Report
from morl_recipes.common.atomic_files import staged

ROOT = Path(__file__).parents[1]
EQUAL = Path(__file__).with_name("mutants_equal.json")
CACHE, JOURNAL = ROOT / "build" / "mutants_reached", ROOT / "build" / "mutants_tried.jsonl"


@dataclasses.dataclass(frozen=True)
class Folder:
    """Sources and their tests.

    Args:
        count: How many mutants to make.
        sources: Globs of files.
        tests: Globs of test files; the examples in the sources are tests, too.
    """

    count: int
    sources: tuple[str, ...]
    tests: tuple[str, ...]


HARNESS, HARNESS_TESTS = "recipes/morl_recipes", "tests/morl_recipes"
FOLDERS = {
    "blocks": Folder(160, ("morl_blocks/**/*.py",), ("tests/morl_blocks/**/test_*.py",)),
    "evaluation": Folder(
        36,
        (f"{HARNESS}/evaluation/**/*.py",),
        (
            f"{HARNESS_TESTS}/evaluation/**/test_*.py",
            f"{HARNESS_TESTS}/running/test_stored_runs.py",
            f"{HARNESS_TESTS}/running/fronts/test_front.py",
        ),
    ),
    "store": Folder(
        70,
        (f"{HARNESS}/store/**/*.py", f"{HARNESS}/common/atomic_files.py"),
        (
            f"{HARNESS_TESTS}/store/**/test_*.py",
            f"{HARNESS_TESTS}/common/test_atomic_files.py",
            f"{HARNESS_TESTS}/recipe/test_identity.py",
            f"{HARNESS_TESTS}/running/test_stored.py",
            f"{HARNESS_TESTS}/running/test_test_scores.py",
            f"{HARNESS_TESTS}/running/test_result.py",
            f"{HARNESS_TESTS}/running/fronts/test_front.py",
            f"{HARNESS_TESTS}/test_moved.py",
        ),
    ),
    "learning": Folder(50, (f"{HARNESS}/learning/**/*.py",), (f"{HARNESS_TESTS}/learning/**/test_*.py",)),
}
NEEDS = {"morl_blocks/llm/attention_grpo.py": "trl"}
"""Files whose tests need a package; without it they are left out."""
SLOW = tuple(
    f"{HARNESS_TESTS}/learning/test_{name}.py" for name in ("concave_arms", "fused", "own_blocks", "what_trains")
)
"""Tests that take too long to trace: those of the compiler, and long trainings."""
NEAR = 3.0
"""Processor seconds of tests that a mutant is tried on first."""

Row = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Args:
    """Make mutants and run the tests that reach them."""

    out: Path = Path("benchmarks/results/mutants.json")
    """Where to write the figures."""
    seed: int = 0
    """Which mutants."""
    only: str = ""
    """A glob of files."""
    survivors: bool = False
    """Try only those that survived before."""
    seconds: float = 8.0
    """Processor seconds of tests that a mutant is tried on before it has survived."""
    controls: int = 4
    """Lists of tests that run without a fault, per folder."""
    workers: int = 1
    """Mutants to try at the same time."""


class Reached:
    """Which tests call which function, traced once for each file of tests and kept until it or a source changes.

    Args:
        runner: The tests.
        cache: Folder to keep it in.
        sources: Texts of the files that are changed.
        workers: Files to trace at the same time.
    """

    def __init__(self, runner: Runner, cache: Path, sources: dict[str, str], workers: int = 1) -> None:
        by_file: dict[str, list[str]] = collections.defaultdict(list)
        for name in runner.items:
            by_file[name.partition("::")[0]].append(name)
        code = json.dumps(sources, sort_keys=True)
        kept = {file: cache / f"{digest(code, file, (runner.root / file).read_text())}.json" for file in by_file}
        new = [file for file, path in kept.items() if not path.exists()]
        cache.mkdir(parents=True, exist_ok=True)

        def trace(number: int) -> None:
            for file in new[number::workers]:
                found = runner.trace(by_file[file])
                facts: Row = {"passed": found.passed, "functions": {}}
                for test in found.passed:
                    for function in found.reached[test]:
                        facts["functions"].setdefault(function, []).append(test)
                runner.say(f"traced {file}: {len(found.passed)} tests, {sum(found.passed.values()):.1f} s")
                with staged(kept[file]) as path:
                    path.write_text(json.dumps(facts))

        if new:
            spread(runner, workers, trace)
        self.files: dict[str, Row] = {file: json.loads(path.read_text()) for file, path in kept.items()}

    def tests_of(self, mutant: Mutant) -> list[tuple[str, float]]:
        """Return the tests that reach a mutant and their seconds: by file, the nearest and fastest file first."""
        key = f"{mutant.path}:{mutant.owner}"
        found = []
        for file, facts in self.files.items():
            called = set(facts["functions"].get(key, ()))
            tests = [(test, seconds) for test, seconds in facts["passed"].items() if test in called]
            found.append((distance(mutant.path, file), sum(seconds for _, seconds in tests), tests))
        return [test for *_, tests in sorted(found) for test in tests]


def digest(*texts: str) -> str:
    """Return a short digest of some texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]


def distance(path: str, test: str) -> int:
    """Tell how near a test file is to a source: its own examples or test file, its folder, elsewhere."""
    source, tested = Path(path), Path(test)
    if path == test or tested.stem == f"test_{source.stem.lstrip('_')}":
        return 0
    return 1 if tested.parent.name == source.parent.name else 2


class Tried:
    """Try mutants.

    Args:
        runner: The tests.
        reached: Which of them call which function.
        killers: Tests that killed a change before; they run first.
        sources: Texts of the files.
    """

    def __init__(self, runner: Runner, reached: Reached, killers: dict[str, str], sources: dict[str, str]) -> None:
        self.runner, self.reached, self.killers, self.sources = runner, reached, killers, sources

    def __call__(self, mutant: Mutant, seconds: float, *, fault: bool = True) -> str | None:
        """Return the test that killed a mutant, an empty text, or ``None`` if it has the same code."""
        killer = self.killers.get(mutant.change)
        tests = sorted(self.reached.tests_of(mutant), key=lambda one: one[0] != killer)
        text = mutated(self.sources[mutant.path], mutant) if fault else None
        near = fitting(tests, NEAR)
        by = self._verdict(mutant, text, near)
        if by == "" and seconds > NEAR:
            by = self._verdict(mutant, text, fitting([test for test in tests if test not in near], seconds - NEAR))
        return by

    def _verdict(self, mutant: Mutant, text: str | None, tests: list[tuple[str, float]]) -> str | None:
        names, seconds = [name for name, _ in tests], sum(seconds for _, seconds in tests)
        return self.runner.verdict(mutant.path, mutant.owner, text, names, seconds)


def fitting(tests: Sequence[tuple[str, float]], seconds: float) -> list[tuple[str, float]]:
    """Return the first tests that fit into so many seconds together, without those that do not, but at least one."""
    kept, left = list[tuple[str, float]](), seconds
    for test in tests:
        if test[1] <= left:
            kept.append(test)
            left -= test[1]
    return kept or list(tests[:1])


def totals(rows: list[Row]) -> dict[str, int | float]:
    """Count verdicts; the share killed is of those that are not equal."""
    count = collections.Counter(row["verdict"] for row in rows)
    killed = count["killed"]
    late = sum(row["by"] in (LATE, LOST) for row in rows)
    figures = {
        "made": len(rows),
        "killed": killed,
        "late": late,
        "equal": count["equal"],
        "survived": count["survived"],
    }
    return {**figures, "percent": round(100 * killed / max(1, len(rows) - count["equal"]), 1)}


def main(args: Args) -> None:
    """Print a line per mutant, then what survived and totals per folder; write them after each folder."""
    before = json.loads(args.out.read_text()) if args.out.exists() else {"mutants": [], "free": []}
    equal: dict[str, str] = json.loads(EQUAL.read_text())
    partly = bool(args.only or args.survivors)
    rows, free, begun = list[Row](), list[str](), time.monotonic()
    for name, folder in FOLDERS.items():
        found, controls = try_folder(name, folder, args, before["mutants"], equal)
        rows, free = rows + found, free + controls
        if found:
            kept = merged(before["mutants"], rows) if partly else rows
            report(kept, before["free"] if partly else free, args.out, (time.monotonic() - begun) / 60)
    JOURNAL.unlink(missing_ok=True)


def merged(before: list[Row], now: list[Row]) -> list[Row]:
    """Put new rows in the place of those of the same mutants, and those of other mutants behind them."""
    again = {(row["path"], row["change"]) for row in now}
    kept = [row for row in before if row["verdict"] != "survived" or (row["path"], row["change"]) not in again]
    rows = {(row["path"], *row["place"], row["change"]): row for row in (*kept, *now)}
    return list(rows.values())


def try_folder(
    name: str, folder: Folder, args: Args, before: list[Row], equal: dict[str, str]
) -> tuple[list[Row], list[str]]:
    """Return what became of a folder's mutants, and of tests without a fault."""
    there = {path: text for path, text in read(ROOT, folder.sources).items() if find_spec(NEEDS.get(path, "torch"))}
    sources = {path: text for path, text in there.items() if module(ROOT, path)}
    candidates = [mutant for path, text in sources.items() for mutant in mutants_of(text, path)]
    survived = {row["change"] for row in before if row["verdict"] == "survived"}
    chosen = [
        mutant
        for mutant in choose(candidates, folder.count, args.seed)
        if fnmatch(mutant.path, args.only or "*") and (mutant.change in survived or not args.survivors)
    ]
    killers = {row["change"]: row["by"] for row in before if row["verdict"] == "killed"}

    marks = {mutant: digest(sources[mutant.path], mutant.change, str(mutant.place)) for mutant in chosen}
    some = [] if args.survivors else random.Random(args.seed).sample(chosen, min(args.controls, len(chosen)))

    def work(runner: Runner) -> tuple[list[Row], list[str | None]]:
        tried = Tried(runner, Reached(runner, CACHE, sources, args.workers), killers, sources)
        left = [mutant for mutant in chosen if marks[mutant] not in journal()]
        runner.say(f"{name}: {len(chosen)} mutants, {len(chosen) - len(left)} of them tried before the run was stopped")

        def attempt(number: int) -> None:
            for mutant in left[number :: args.workers]:
                by = tried(mutant, NEAR if mutant.change in equal else args.seconds)
                with JOURNAL.open("a") as file:  # one short line, which is written at once
                    file.write(json.dumps({"mark": marks[mutant], "by": by}) + "\n")
                known = sum(mark in marks.values() for mark in journal())
                verdict = "same code" if by is None else row_of(mutant, by, equal)["verdict"]
                runner.say(f"{known}/{len(chosen)} {verdict:<9} {mutant.path}:{mutant.line}  {mutant.change}  {by}")

        if left:
            spread(runner, args.workers, attempt)
        found = [(mutant, journal()[marks[mutant]]) for mutant in chosen]
        rows = [{"folder": name, **row_of(mutant, by, equal)} for mutant, by in found if by is not None]
        return rows, [tried(mutant, NEAR, fault=False) for mutant in some]

    if not chosen:
        return [], []
    tests = [path for path in read(ROOT, folder.tests) if path not in SLOW]
    tests += [path for path, text in sources.items() if ">>> " in text]
    rows, controls = Runner(ROOT, work).run(tests)
    return rows, controls


def journal() -> dict[str, str | None]:
    """Return the verdicts of a run that was stopped, by the mark of the mutant."""
    lines = JOURNAL.read_text().splitlines() if JOURNAL.exists() else []
    return {row["mark"]: row["by"] for row in map(json.loads, lines)}


def row_of(mutant: Mutant, by: str, equal: dict[str, str]) -> Row:
    """Return what is written of a mutant."""
    verdict = "killed" if by else "equal" if mutant.change in equal else "survived"
    facts = {key: getattr(mutant, key) for key in ("path", "line", "place", "kind", "change")}
    return {**facts, "verdict": verdict, "by": by or equal.get(mutant.change, "")}


def report(rows: list[Row], free: list[str], out: Path, minutes: float) -> None:
    """Print what survived and the totals, and write them with every mutant."""
    page = Report(out)
    for verdict in ("survived", "equal"):
        found = [row for row in rows if row["verdict"] == verdict]
        page.say("", f"{verdict}: {len(found)}")
        for row in found:
            why = f"\n    {row['by']}" if row["by"] else ""
            page.say(f"  {row['path']}:{row['line']}  {row['kind']}\n    {row['change']}{why}")
    page.say("", f"{'folder':<12}{'made':>8}{'killed':>8}{'late':>8}{'equal':>8}{'survived':>10}{'killed':>9}")
    figures = {}
    for name in (*FOLDERS, "all"):
        figures[name] = one = totals([row for row in rows if name in ("all", row["folder"])])
        cells = "".join(f"{one[key]:>8}" for key in ("made", "killed", "late", "equal"))
        page.say(f"{name:<12}{cells}{one['survived']:>10}{one['percent']:>7} %")
    page.say("", "The share killed is of those that are not equal.")
    page.say("late: killed by running out of time or by losing the interpreter.")
    page.say(f"Controls without a fault: {len(free)}, of which a test failed in {sum(map(bool, free))}.")
    page.say(*(f"Left out without {package}: {path}" for path, package in NEEDS.items() if not find_spec(package)))
    page.write({"totals": figures, "minutes": round(minutes), "free": free, "mutants": rows})


if __name__ == "__main__":
    main(tyro.cli(Args))
