"""Do ten preferences reach the fronts of known problems by gradient descent, beside libmoon's solver?

Every method gets the same ten starts, preferences and evaluations (steps of all ten points at once, with gradients):

- ours: a scalarizer with ``sense="min"`` and Adam, variables clipped to their bounds;
- libmoon's ``GradAggSolver`` (version 0.1.9, where it is installed; 0.2.1 comes without it, and 0.1.9 without a smooth
  Tchebycheff function) with its own weighted sum and Tchebycheff function, and SGD with its example's step size 0.1.

Starts are drawn from the middle half of the box: near VLMOP2's corners no method has a gradient.

IGD is the mean distance from 2,000 points of the exact front to the nearest point found. ``ten even points`` is the
exact front cut to ten points, so no method can be much better. ``farthest`` is the largest distance of a found point to
the front, and ``inside`` counts distinct points away from the ends of the front.

Run ``python -m benchmarks.several_losses``; it prints a table and writes it as JSON.
"""

import argparse
import contextlib
import dataclasses
import io
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import tyro
from torch import Tensor

from benchmarks._report import Report
from morl_blocks.metrics import igd
from morl_blocks.problems import DTLZ2, VLMOP2, ZDT1, ZDT2, ZDT3, Problem
from morl_blocks.scalarizers import Linear, Scalarizer, SmoothTchebycheff, Tchebycheff

PROBLEMS: dict[str, Problem] = {
    "VLMOP2 (concave)": VLMOP2(2),
    "ZDT2 (concave)": ZDT2(),
    "DTLZ2 (concave)": DTLZ2(2),
    "ZDT1 (convex)": ZDT1(),
    "ZDT3 (in pieces)": ZDT3(),
}
OURS: dict[str, Callable[[], Scalarizer]] = {
    "Linear": lambda: Linear(sense="min"),
    "TCH": lambda: Tchebycheff(sense="min", utopia=0.0),
    "STCH (0.1)": lambda: SmoothTchebycheff(0.1, sense="min", utopia=0.0),
    "STCH (0.01)": lambda: SmoothTchebycheff(0.01, sense="min", utopia=0.0),
}
LIBMOON = {"libmoon, sum": "ls", "libmoon, TCH": "tche"}
MARGIN = 1e-5  # libmoon's distance from the bounds, where ZDT1 has no gradient; ours too
Solver = Callable[[Problem, Tensor, Tensor, int], Tensor]


@dataclasses.dataclass(frozen=True)
class Args:
    """Trace known fronts with ten preferences."""

    out: Path = Path("benchmarks/results/several_losses.json")
    """Where to write the figures."""
    steps: int = 2000
    """Evaluations of each point."""
    preferences: int = 10
    """Number of preferences, evenly spread."""
    seeds: int = 3
    """Sets of starts; figures are means."""


def descend(scalarizer: Scalarizer) -> Solver:
    """Minimise the utility of each row by Adam with a falling step size."""

    def solve(problem: Problem, start: Tensor, weights: Tensor, steps: int) -> Tensor:
        low, high = problem.bounds
        x = start.clone().requires_grad_()
        optimiser = torch.optim.Adam([x], lr=0.02)
        decay = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.01, steps)
        for _ in range(steps):
            optimiser.zero_grad()
            scalarizer(problem(x), weights).sum().backward()
            optimiser.step()
            decay.step()
            with torch.no_grad():
                x.clamp_(low + MARGIN, high - MARGIN)
        return problem(x.detach())

    return solve


def by_libmoon(function: str) -> Solver:
    """Let libmoon's solver minimise one of its functions."""

    def solve(problem: Problem, start: Tensor, weights: Tensor, steps: int) -> Tensor:
        from libmoon.solver.gradient import GradAggSolver

        class Adapted:
            """Our problem with the names that the solver asks for."""

            lbound, ubound = (bound.numpy() for bound in problem.bounds)
            evaluate = staticmethod(problem)

        options = argparse.Namespace(agg=function, problem_name="ZDT1")  # a name that has a reference point
        solver = GradAggSolver(0.1, steps, 1e-6)
        with contextlib.redirect_stderr(io.StringIO()):
            found: dict[str, Any] = solver.solve(Adapted(), start.clone(), weights, options)
        return torch.as_tensor(found["y"])

    return solve


def measure(problem: Problem, found: Tensor) -> dict[str, float]:
    """Return IGD, the farthest point's distance to the front, and the number of distinct points inside."""
    exact = problem.reference_front(2000)
    if not bool(found.isfinite().all()):
        return {"igd": float("nan"), "farthest": float("nan"), "inside": 0}
    ends = torch.stack([exact[exact[:, 0].argmin()], exact[exact[:, 0].argmax()]])
    away = found[torch.cdist(found, ends).amin(-1) > 0.05]
    return {
        "igd": igd(found, exact, "min"),
        "farthest": float(torch.cdist(found, exact).amin(-1).max()),
        "inside": len((away / 0.02).round().unique(dim=0)),
    }


def solvers() -> dict[str, Solver]:
    """Return all methods; libmoon's where it is installed."""
    rows = {name: descend(make()) for name, make in OURS.items()}
    if find_spec("libmoon") is not None and find_spec("libmoon.solver.gradient") is not None:
        rows |= {name: by_libmoon(function) for name, function in LIBMOON.items()}
    return rows


def main(args: Args) -> dict[str, dict[str, float]]:
    """Run every method on every problem, print the table, write the JSON and return it."""
    torch.set_num_threads(1)
    first = (torch.arange(args.preferences) + 0.5) / args.preferences
    weights = torch.stack([first, 1 - first], -1)
    results, report = {}, Report(args.out)
    report.say(f"{'problem':<20}{'method':<18}{'IGD':>9}{'farthest':>11}{'inside':>9}")
    for title, problem in PROBLEMS.items():
        low, high = problem.bounds
        rows: dict[str, list[dict[str, float]]] = {}
        for seed in range(args.seeds):
            share = torch.rand(args.preferences, problem.dimension, generator=torch.Generator().manual_seed(seed))
            start = low + (0.25 + 0.5 * share) * (high - low)
            for name, solve in solvers().items():
                found = solve(problem, start, weights, args.steps)
                rows.setdefault(name, []).append(measure(problem, found))
        rows["ten even points"] = [measure(problem, problem.reference_front(args.preferences))]
        for name, seeds in rows.items():
            row = {key: sum(one[key] for one in seeds) / len(seeds) for key in seeds[0]}
            results[f"{title}, {name}"] = row
            report.say(f"{title:<20}{name:<18}{row['igd']:>9.4f}{row['farthest']:>11.4f}{row['inside']:>9.1f}")
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
