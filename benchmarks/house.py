"""How large is the harness, and how far is it from a call to the first gradient? One line per measure.

Run ``python -m benchmarks.house``. ``--names`` lists what was counted, too.
"""

import ast
import dataclasses
import io
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
import tyro

from benchmarks._report import Report
from morl_blocks.combiners import PCGrad
from morl_envs.toy import toy
from morl_recipes import PASTA, PPO, Recipe, train, train_front
from morl_recipes.cli import main as command_line

ROOT = Path(__file__).parents[1]
HARNESS = ROOT / "recipes" / "morl_recipes"
OWN = {"morl_blocks": ROOT / "morl_blocks", "morl_envs": ROOT / "envs" / "morl_envs", "morl_recipes": HARNESS}
RUN_WORDS = ("Run", "Planned", "Record")
RUN_FIELDS = ("preference", "seed")
STEPS = ("step_tensors",)
NO_ORCHESTRATOR = ("learning", "cli", "engines")
"""Folders whose loops are over iterations, flags and workers."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Reached(BaseException):
    """Ends a training at its first combined gradient."""


def lines(folder: Path) -> int:
    """Count the lines of all Python below a folder."""
    return sum(path.read_text().count("\n") for path in folder.rglob("*.py"))


def trees(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    """Yield every file of Python below a folder, parsed."""
    for path in sorted(folder.rglob("*.py")):
        if not {"_build", "__pycache__"} & set(path.parts):
            yield path, ast.parse(path.read_text())


def where(path: Path) -> str:
    """Return a path as it is named in the lists."""
    return str(path.relative_to(HARNESS if path.is_relative_to(HARNESS) else ROOT))


def forms_of_a_run() -> list[str]:
    """List dataclasses and named tuples named Run, Planned or Record, or with a preference and a seed; no flags."""
    return [
        f"{where(path)}: {node.name}"
        for path, tree in trees(HARNESS)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and "cli" not in path.parts and _is_data(node) and _is_run(node)
    ]


def _is_data(node: ast.ClassDef) -> bool:
    words = [ast.unparse(part) for part in (*node.decorator_list, *node.bases)]
    return any("dataclass" in word or "NamedTuple" in word for word in words)


def _is_run(node: ast.ClassDef) -> bool:
    named = {ast.unparse(part.target) for part in node.body if isinstance(part, ast.AnnAssign)}
    return any(word in node.name for word in RUN_WORDS) or named.issuperset(RUN_FIELDS)


def episode_loops() -> list[str]:
    """List functions outside ``learning`` that step environments in a loop of their own, or begin episodes to do so."""
    found = []
    for path, tree in trees(HARNESS):
        for function in ast.walk(tree):
            if isinstance(function, Function) and "learning" not in path.parts and _steps(function):
                found.append(f"{where(path)}: {function.name}")
    return found


def _steps(function: Function) -> bool:
    loops = (node for node in ast.walk(function) if isinstance(node, ast.For | ast.While))
    calls = (node for loop in loops for node in ast.walk(loop) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Attribute) and call.func.attr in STEPS for call in calls)


def private_imports() -> list[tuple[str, str, int]]:
    """List ``(file, module, number of names)`` of imports of private names from outside the package that has them."""
    found = []
    for place in OWN.values():
        for path, tree in trees(place):
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and not node.level:
                    found += [(where(path), *one) for one in _private(node, _package(path))]
    return found


def _private(node: ast.ImportFrom, package: str) -> Iterator[tuple[str, int]]:
    module = node.module or ""
    if module.partition(".")[0] not in OWN:
        return
    count = 0
    for alias in node.names:
        parts = f"{module}.{alias.name}".split(".")
        first = next((i for i, part in enumerate(parts) if part.startswith("_") and not part.endswith("__")), None)
        count += first is not None and not f"{package}.".startswith(".".join(parts[:first]) + ".")
    if count:
        yield module, count


def _package(path: Path) -> str:
    for name, folder in OWN.items():
        if path.is_relative_to(folder):
            return ".".join((name, *path.parent.relative_to(folder).parts))
    return ""


def stack_of(start: Callable[[], Any]) -> list[traceback.FrameSummary]:
    """Return the frames of our own modules from a call to the first ``PCGrad.combine``, outermost first."""
    stacks: list[list[traceback.FrameSummary]] = []

    def stop(*_: Any, **__: Any) -> Any:
        stacks.append(traceback.extract_stack()[:-1])
        raise Reached

    before = PCGrad.combine
    PCGrad.combine = stop  # type: ignore[method-assign]
    try:
        with suppress(Reached), redirect_stdout(io.StringIO()):
            start()
    finally:
        PCGrad.combine = before  # type: ignore[method-assign]
    if not stacks:
        raise RuntimeError("No gradient was combined.")
    own = [f for f in stacks[0] if any(Path(f.filename).is_relative_to(folder) for folder in OWN.values())]
    return [*own, traceback.FrameSummary(PCGrad.combine.__code__.co_filename, 0, "combine")]


TINY = PPO(steps_per_iteration=64, epochs=1)
HOW: dict[str, Any] = {"total_steps": 64, "num_envs": 2, "update": "generic", "progress": False}
PAIRS: tuple[Any, ...] = ([[0.5, 0.5]], [0])


def entries(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return the ways to train: from Python with and without a folder, as a front, warm-started, and by command."""
    recipe = replace(PASTA, ppo=TINY)
    front = {name: value for name, value in HOW.items() if name != "test_episodes"} | {"preferences": 5}
    words = "train PASTA --env stealth --preferences 0.2,0.2,0.6 --total-steps 64 --num-envs 2 --update generic --quiet"
    sets = ["--set", "ppo.steps_per_iteration=64", "--set", "ppo.epochs=1", "--out", str(folder / "cli")]
    return {
        "train": lambda: train(recipe, toy(), *PAIRS, **HOW),
        "train(out=...)": lambda: train(recipe, toy(), *PAIRS, **HOW, out=folder / "train"),
        "train_front": lambda: train_front(recipe, toy(), **front),
        "train_front(out=...)": lambda: train_front(recipe, toy(), **front, out=folder / "front"),
        "warm start": lambda: train_front(recipe, toy(), **front, conditioned=False, warm_start=0.5),
        "command line": lambda: command_line([*words.split(), *sets]),
    }


def looping(frames: list[traceback.FrameSummary]) -> Iterator[str]:
    """Name the functions that are in a loop, or in a ``with`` that guards a training, outside learning."""
    for frame in frames:
        path = Path(frame.filename)
        if path.is_relative_to(HARNESS) and not set(NO_ORCHESTRATOR) & set(path.relative_to(HARNESS).parts):
            nodes = ast.walk(ast.parse(path.read_text()))
            loops = (n for n in nodes if isinstance(n, ast.For | ast.While | ast.With))
            if any(n.lineno <= (frame.lineno or 0) <= (n.end_lineno or 0) for n in loops):
                yield f"{where(path)}: {frame.name}"


def conversions(start: Callable[[], Any]) -> int:
    """Count recipes that a training reads back from a dictionary of the same process."""
    calls, before = [0], Recipe.from_dict

    def counted(data: Any) -> Recipe:
        calls[0] += 1
        return before(data)

    Recipe.from_dict = counted  # type: ignore[method-assign]
    try:
        with redirect_stdout(io.StringIO()):
            start()
    finally:
        Recipe.from_dict = before  # type: ignore[method-assign]
    return calls[0]


@dataclasses.dataclass(frozen=True)
class Args:
    """Measure the harness."""

    out: Path = Path("benchmarks/results/house.json")
    """Where to write the figures."""
    names: bool = True
    """List what was counted."""


def main(args: Args) -> None:
    """Print every measure."""
    torch.set_num_threads(1)
    report, figures = Report(args.out), dict[str, Any]()

    def row(name: str, value: Any, goal: str, items: list[str] | None = None) -> None:
        figures[name] = value
        report.say(f"{name:<72} {value:>8}   goal {goal}")
        if args.names and items:
            report.say(*(f"    {item}" for item in items))

    row("lines of Python in recipes/morl_recipes", lines(HARNESS), "<= 13000")
    row("lines of Python in tests", lines(ROOT / "tests"), "<= 18000")
    with TemporaryDirectory() as place:
        stacks = {name: stack_of(start) for name, start in entries(Path(place)).items()}
    for name, goal in (("train", "<= 8"), ("train(out=...)", "<= 8"), ("command line", "<= 9")):
        frames = [f"{_short(frame.filename)}: {frame.name}" for frame in stacks[name]]
        row(f"own frames to the first PCGrad.combine, {name}", len(frames), goal, frames)
    found = sorted({one for frames in stacks.values() for one in looping(frames)})
    files = sorted({one.partition(":")[0] for one in found})
    row("orchestrators: files with a loop or guard around a training", len(files), "1", found)
    row("forms of a run", len(forms_of_a_run()), "2", forms_of_a_run())
    row("episode loops", len(episode_loops()), "1", episode_loops())
    private = private_imports()
    row("private names imported from outside their package", sum(n for *_, n in private), "0")
    row("... in this many statements", len(private), "0", [f"{a} imports {n} of {b}" for a, b, n in private])
    with TemporaryDirectory() as place:
        ways = entries(Path(place))
        for name in ("train", "train(out=...)", "command line"):
            row(f"recipes read back from a dictionary, {name}", conversions(ways[name]), "0")
    report.write(figures)


def _short(filename: str) -> str:
    path = Path(filename)
    return next(f"{name}/{path.relative_to(folder)}" for name, folder in OWN.items() if path.is_relative_to(folder))


if __name__ == "__main__":
    main(tyro.cli(Args))
    sys.exit(0)
