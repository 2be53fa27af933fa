"""What does it cost to start? CPU seconds of fresh processes, beside those of ``import torch``.

Run ``python -m benchmarks.import_time``. With ``--before CHECKOUT``, another checkout of the repository takes turns
with this one. Every start is repeated and its best turn counts, for a process can only be slowed down.
"""

import dataclasses
import os
import resource
import subprocess
import sys
from pathlib import Path

import tyro

from benchmarks._report import Report

ROOT = Path(__file__).parents[1]
COMBINE = """
try:
    from morl_blocks import combine_gradients
except ImportError:  # where it stood before
    from morl_blocks.ppo import combine_gradients
"""
STARTS = {  # the first is what the others are compared with
    "import torch": "import torch",
    "morl_blocks.combine_gradients": COMBINE,
    "from morl_recipes import train": "from morl_recipes import train",
    "morl-blocks list": "from morl_recipes.cli import main; main(['list'])",
    "morl-blocks --help": "from morl_recipes.cli import main; main(['--help'])",
}


@dataclasses.dataclass(frozen=True)
class Args:
    """Count the CPU seconds of starting."""

    out: Path = Path("benchmarks/results/import_time.json")
    """Where to write the figures."""
    before: Path | None = None
    """Another checkout to compare with."""
    rounds: int = 7
    """Turns per start; the best one counts."""


def cpu_seconds(code: str, root: Path) -> float:
    """Run code in a fresh process with the packages of a checkout, and return its CPU seconds."""
    path = os.pathsep.join(str(root / folder) for folder in ("", "envs", "recipes"))
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", code]
    subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, cwd=root, stdout=subprocess.DEVNULL, check=True)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime


def main(args: Args) -> dict[str, dict[str, float]]:
    """Measure, print and write."""
    roots = {"now": ROOT} | ({} if args.before is None else {"before": args.before.absolute()})
    results = {name: dict.fromkeys(roots, float("inf")) for name in STARTS}
    for _ in range(args.rounds):
        for name, code in STARTS.items():
            for when, root in roots.items():
                results[name][when] = min(results[name][when], cpu_seconds(code, root))
    report = Report(args.out)
    report.say(f"{'CPU seconds of a fresh process':32s}" + "".join(f"{when:>9s}{'/ torch':>9s}" for when in roots))
    torch = results[next(iter(STARTS))]
    for name, row in results.items():
        report.say(f"{name:32s}" + "".join(f"{row[when]:9.2f}{row[when] / torch[when]:8.2f}x" for when in roots))
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
