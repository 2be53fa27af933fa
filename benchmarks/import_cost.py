"""What does importing a block cost beyond torch? Milliseconds of CPU time in forks of a process that has torch.

Run ``python -m benchmarks.import_cost``. Every import is repeated in a fresh fork and its best turn counts.
"""

import dataclasses
import importlib
import os
import struct
import time
from pathlib import Path

import torch  # noqa: F401 - what every import below starts from
import tyro

MODULES = (
    "morl_blocks",
    "morl_blocks.scalarizers",
    "morl_blocks.schedulers",
    "morl_blocks.combiners",
    "morl_blocks.critics",
    "morl_blocks.preferences",
    "morl_blocks.normalizers",
    "morl_blocks.problems",
    "morl_blocks.gradients",
    "morl_blocks.metrics",
    "morl_blocks.ppo",
    "morl_recipes",
)


@dataclasses.dataclass(frozen=True)
class Args:
    """Count the CPU milliseconds of imports."""

    out: Path = Path("benchmarks/results/import_cost.json")
    """Where to write the figures."""
    rounds: int = 7
    """Turns per import; the best one counts."""


def milliseconds(module: str) -> float:
    """Import a module in a fork, and return the CPU time that took."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        begin = time.process_time()
        importlib.import_module(module)
        os.write(writer, struct.pack("d", 1000 * (time.process_time() - begin)))
        os._exit(0)
    os.waitpid(child, 0)
    (taken,) = struct.unpack("d", os.read(reader, 8))
    os.close(reader)
    os.close(writer)
    return float(taken)


def main(args: Args) -> dict[str, float]:
    """Measure, print and write."""
    results = {module: min(milliseconds(module) for _ in range(args.rounds)) for module in MODULES}
    from benchmarks._report import Report  # it imports morl_recipes

    report = Report(args.out)
    report.say("ms of CPU time beyond `import torch`")
    for module, taken in results.items():
        report.say(f"{module:28s}{taken:6.0f}")
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
