"""SelfTuned beside PASTA's controller and every fixed smoothness at full length, on half-cheetah and formation.

The runs are those of the sweep ``faithful_1m``, kept in ``benchmarks/results/faithful-1m.csv``::

    morl-blocks sweep faithful_1m --out runs/faithful_1m
    python -m benchmarks.publish runs/faithful_1m --name faithful-1m --sweep faithful_1m --out benchmarks/results
    python -m benchmarks.faithful_1m

The rule was written before the results: on each environment, the best fixed smoothness is the one with the largest mean
hypervolume on fresh episodes. SelfTuned keeps up where its own mean is not below the 95 % interval of that mean, with
no setting changed. Differences are paired seed by seed. An environment with a row that is not fully trained is not
judged.
"""

import dataclasses
import math
from pathlib import Path
from typing import Any

import tyro

from benchmarks._report import Report
from benchmarks.claims.findings import find_lead
from benchmarks.claims.rows import PASTA, Row, Rows
from morl_blocks.metrics import Interval
from morl_recipes.analysis.datasets import read_dataset
from morl_recipes.analysis.results.load import load_results
from morl_recipes.common.scores import SCORES

SELF_TUNED = Row("ours", "SelfTuned")
FIXED = (*(Row("fixed_mu", f"mu={mu}") for mu in (0.01, 0.1, 0.5, 1.0, 5.0)), Row("controller", "No Decay"))
"""*No Decay* is a fixed smoothness of 10."""
DIGITS = {"hv": 3, "eu": 1}


@dataclasses.dataclass(frozen=True)
class Args:
    """Compare SelfTuned with PASTA's controller and every fixed smoothness."""

    data: Path = Path("benchmarks/results/faithful-1m.csv")
    """The published runs."""
    out: Path = Path("benchmarks/results/faithful_1m.json")
    """Where to write the figures."""


def keeps_up(own: Interval, best: Interval) -> bool:
    """Apply the rule.

    Example:
        >>> keeps_up(Interval(0.20, 0.1, 0.3), Interval(0.22, 0.19, 0.25))
        True
        >>> keeps_up(Interval(0.18, 0.1, 0.3), Interval(0.22, 0.19, 0.25))
        False
    """
    return own.estimate >= best.low


def compare_rows(by_score: dict[str, Rows]) -> dict[str, Any]:
    """Return the scores of every row of an environment, SelfTuned minus it, and what the rule says of each score."""
    complete = [row for row in (SELF_TUNED, PASTA, *FIXED) if by_score["hv"].complete(row)]
    found: dict[str, Any] = {"rows": {}, "missing": [], "best": {}, "keeps_up": {}}
    found["missing"] = [row.method for row in (SELF_TUNED, PASTA, *FIXED) if row not in complete]
    for row in complete:
        found["rows"][row.method] = {name: list(rows.mean(row)) for name, rows in by_score.items()}
        if row != SELF_TUNED and SELF_TUNED in complete:
            leads = {name: find_lead(rows, SELF_TUNED, row).ours for name, rows in by_score.items()}
            found["rows"][row.method] |= {f"SelfTuned minus it, {name}": list(lead) for name, lead in leads.items()}
    if not found["missing"]:
        for name, rows in by_score.items():
            best = max(FIXED, key=lambda row: rows.mean(row).estimate)
            found["best"][name] = best.method
            found["keeps_up"][name] = keeps_up(rows.mean(SELF_TUNED), rows.mean(best))
    return found


def text(numbers: list[float], digits: int, sign: str = "") -> str:
    """Print an interval."""
    middle, low, high = (f"{number:{sign}.{digits}f}" for number in numbers)
    return middle if math.isnan(numbers[1]) else f"{middle} [{low}, {high}]"


def main(args: Args) -> dict[str, Any]:
    """Print the table, write it, return the figures."""
    report, dataset = Report(args.out), read_dataset(args.data)
    results, figures = load_results(dataset, score="test"), dict[str, Any]()
    report.say("999,424 steps, fresh episodes of best validations; mean and 95 % interval over seeds, paired by seed")
    for env in dataset.manifest.environments:
        found = compare_rows({score.name: Rows.of(results, env, score) for score in SCORES})
        figures[env] = found
        report.say(f"\n{env}")
        report.say(f"{'row':14s}{'HV':24s}{'asked utility':28s}{'SelfTuned minus it: HV':28s}asked utility")
        for method, row in found["rows"].items():
            cells = [f"{text(row[name], DIGITS[name]):{width}s}" for name, width in (("hv", 24), ("eu", 28))]
            for name, width in (("hv", 28), ("eu", 0)):
                numbers = row.get(f"SelfTuned minus it, {name}")
                cells.append("" if numbers is None else f"{text(numbers, DIGITS[name], '+'):{width}s}")
            report.say(f"{method:14s}{''.join(cells)}".rstrip())
        if found["missing"]:
            report.say(f"Not judged: not trained yet are {', '.join(found['missing'])}.")
        for name, words in (("hv", "HV"), ("eu", "asked utility")) if not found["missing"] else ():
            best = found["best"][name]
            low, high = (f"{number:.{DIGITS[name]}f}" for number in found["rows"][best][name][1:])
            mean = f"{found['rows']['SelfTuned'][name][0]:.{DIGITS[name]}f}"
            verdict = "keeps up" if found["keeps_up"][name] else "does not keep up"
            said = f"best fixed smoothness {best} [{low}, {high}], SelfTuned {mean}: {verdict}"
            report.say(f"{words}: {said}")
    report.write(figures)
    return figures


if __name__ == "__main__":
    main(tyro.cli(Args))
