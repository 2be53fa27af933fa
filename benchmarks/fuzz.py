"""Does every public block answer bad input with a number or with an error that names the argument?

Each public name of ``morl_blocks`` is called with good arguments and with spoilt ones: other dtypes, lists, arrays,
NaN, infinite, huge and tiny numbers, other shapes, other types. What a call may do:

- *fine*: a finite answer, equal to a float64 oracle where there is one;
- *named*: a ``ValueError`` or ``TypeError`` that names the argument;
- *carried*: a pure function that got NaN, infinity or numbers near the end of their dtype's range passes that on. Pure
  functions do not read their data, so that they compile and one failing run cannot stop the others; modules refuse;
- *unreached*: TensorDict itself refuses to hold such arguments, so that the block never sees them.

What it must not do: *obscure* (any other exception), *unnamed* (an error that names no argument), *nan* (a finite
input's answer is not finite, or a block let NaN pass), *silent* (a wrong number, or a NaN that disappeared).

Run ``python -m benchmarks.fuzz`` (extra ``torchjd``); it prints a table and writes it as JSON.
"""

import collections
import dataclasses
import sys
import zlib
from pathlib import Path
from typing import Any

import torch
import tyro

from benchmarks._fuzz_blocks import COMBINERS, SCALARIZERS, SCHEDULERS
from benchmarks._fuzz_judge import FAILURES, VERDICTS, Case, judge
from benchmarks._fuzz_losses import LOSSES
from benchmarks._fuzz_metrics import METRICS, unknown
from benchmarks._fuzz_ppo import CRITICS, PPO, TRANSFORMS
from benchmarks._report import Report
from morl_blocks import combiners, critics, metrics, normalizers, ppo, problems, scalarizers, schedulers

FAMILIES = (scalarizers, normalizers, problems, schedulers, combiners, critics, ppo, metrics)
# Bases to derive from, and plain tuples of results: nothing to call.
EXEMPT = {
    "Scalarizer",
    "Scheduler",
    "Combiner",
    "DrawingCombiner",
    "Critic",
    "Merged",
    "Normalizer",
    "Problem",
    "Weighed",
    "Combined",
    "Comparison",
    "Interval",
}
EXEMPT |= {"Actor", "ActorPenalty", "AdvantageForm", "Estimate", "ObjectiveLoss"}
EXEMPT |= {"seed_draws"}  # takes a NumPy generator and two sizes


@dataclasses.dataclass(frozen=True)
class Args:
    """Fuzz every public block."""

    out: Path = Path("benchmarks/results/fuzz.json")
    """Where to write the figures."""
    inputs: int = 10_000
    """Calls per name."""
    only: str = ""
    """Fuzz only names that contain this."""
    examples: int = 3
    """Failures to show per name and kind."""


def cases() -> list[Case]:
    """Return all cases, those of unknown metrics included."""
    own = [*SCALARIZERS, *SCHEDULERS, *COMBINERS, *CRITICS, *PPO, *METRICS, *TRANSFORMS, *LOSSES]
    return own + unknown({case.name for case in own} | EXEMPT)


def uncovered() -> set[str]:
    """Return the public names that no case calls."""
    called = {case.name.split(".")[0].split(",")[0] for case in cases()}
    return {name for family in FAMILIES for name in family.__all__} - called - EXEMPT


def fuzz(case: Case, inputs: int, examples: int) -> dict[str, Any]:
    """Call one name and count the verdicts."""
    counts, shown = collections.Counter[str](), dict[str, list[str]]()
    for i in range(inputs):
        seed = zlib.crc32(f"{case.name} {i}".encode())
        verdict, detail = judge(case, seed)
        counts[verdict] += 1
        if verdict in FAILURES and len(shown.setdefault(verdict, [])) < examples:
            shown[verdict].append(f"seed {seed}: {detail}"[:300])
    return {**{verdict: counts[verdict] for verdict in VERDICTS}, "examples": shown}


def main(args: Args) -> dict[str, Any]:
    """Fuzz everything, print the table, write the JSON and return it."""
    torch.set_num_threads(1)
    results, report = dict[str, Any](), Report(args.out)
    report.say(f"{'name':<40}" + "".join(f"{verdict:>10}" for verdict in VERDICTS))
    for case in cases():
        if args.only not in case.name:
            continue
        row = results[case.name] = fuzz(case, args.inputs, args.examples)
        report.say(f"{case.name:<40}" + "".join(f"{row[verdict]:>10,}" for verdict in VERDICTS))
        for verdict, lines in row["examples"].items():
            print(*(f"    {verdict}: {line}" for line in lines), sep="\n", file=sys.stderr)
    total = {verdict: sum(row[verdict] for row in results.values()) for verdict in VERDICTS}
    report.say(f"{'total of ' + format(sum(total.values()), ','):<40}" + "".join(f"{total[v]:>10,}" for v in VERDICTS))
    report.say(f"public names without a case: {', '.join(sorted(uncovered())) or 'none'}")
    results["total"] = total
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
