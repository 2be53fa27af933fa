r"""Which preference does a policy serve? Exact worlds with a concave front, a world of chance, and stealth.

``arms``: one step, sure arms on a concave front. ``coins``: one step, arms that pay by chance, where the utility of the
expected return (SER) and the expected utility of the return (ESR) have different best policies by construction.
``sea``: deep-sea-treasure's concave map as a table, with exact gradients. The utility is smooth Tchebycheff, and its
best value over all policies is known in closed form for each of 21 preferences (``best_between``). In each world the
best policy for SER mixes the two ends of the front; a policy that reaches 98 % of it counts as faithful.

Run ``python -m benchmarks.faithful --picture FILE``; it prints tables, writes ``faithful.json``, and draws the front.
``python -m benchmarks.faithful_stealth`` judges trained policies on stealth.
"""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import torch
import tyro
from matplotlib.figure import Figure
from torch import Tensor

from benchmarks import _faithful_methods as methods
from benchmarks import _faithful_worlds as worlds
from benchmarks._report import Report
from morl_blocks.metrics import preference_correlation

TOLERANCE = 0.02


@dataclasses.dataclass(frozen=True)
class Args:
    """Count the preferences that are served within 2 % of the best utility."""

    out: Path = Path("benchmarks/results/faithful.json")
    """Where to write the figures."""
    picture: Path | None = None
    """Where to draw the concave front, if at all."""
    preferences: int = 21
    """How many preferences, evenly spread from one objective to the other."""
    steps: int = 1500
    """Gradient steps of the policies of one preference."""
    conditioned_steps: int = 4000
    """Gradient steps of the policy of all preferences; 0 for none."""


def judge(achieved: Tensor, best: Tensor, weights: Tensor) -> dict[str, Any]:
    """Return how many preferences are served, and how far the others are from the best."""
    ask = worlds.utility()
    top = ask(best, weights)
    regret = (top - ask(achieved, weights)) / top.abs()
    return {
        "served": int((regret <= TOLERANCE).sum()),
        "mean_regret": float(regret.mean()),
        "largest_regret": float(regret.max()),
        "correlation": preference_correlation(achieved, weights).tolist(),
        "returns": [[round(x, 4) for x in row] for row in achieved.tolist()],
    }


def of_arms(arms: worlds.Arms, weights: Tensor, args: Args) -> dict[str, Tensor]:
    """Train every method on a world of one step; return its expected returns."""
    forms = {"Linear": methods.linear, "ESR-STCH": methods.of_episode, "SER-STCH": methods.of_expectation}
    rows = {name: methods.train_arms(arms, weights, form, steps=args.steps) for name, form in forms.items()}
    rows["PASTA's sum"] = methods.train_projected(arms, weights, steps=args.steps)
    rows["ESR, its optimum"] = worlds.best_single(arms, weights)
    if args.conditioned_steps:
        achieved, forecast = methods.train_conditioned(arms, weights, steps=args.conditioned_steps)
        rows["Conditioned SER-STCH"] = achieved
        rows["(its critic's J)"] = forecast
    return rows


def of_sea(weights: Tensor, args: Args) -> dict[str, Tensor]:
    """Train tabular policies on deep-sea-treasure."""
    names = {"Linear": "linear", "SER-STCH": "expectation", "PASTA's sum": "projected"}
    rows = {name: methods.train_sea(worlds.sea(), weights, method, steps=args.steps) for name, method in names.items()}
    points, ask = worlds.treasures(), worlds.utility()
    pairs = points.expand(len(weights), -1, -1)
    choice = ask(pairs, weights.unsqueeze(1).expand_as(pairs)).argmax(-1)
    return {**rows, "ESR, its optimum": points[choice]}


def draw(rows: dict[str, Tensor], best: Tensor, weights: Tensor, arms: worlds.Arms) -> Figure:
    """Draw the front of the arms, and where each method ends for each preference."""
    figure = Figure(figsize=(12, 3.4), layout="constrained")
    axes = figure.subplots(1, 4, sharex=True, sharey=True)
    names = {"Linear": "Linear", "ESR-STCH": "ESR: utility of each return", "PASTA's sum": "PASTA's sum"}
    names["SER-STCH"] = "SER-STCH: utility of the mean"
    colour = matplotlib.colormaps["viridis"](weights[:, 0].numpy())
    for axis, (name, title) in zip(axes, names.items(), strict=True):
        axis.plot([0, 1], [1, 0], color="0.9", linewidth=7, solid_capstyle="round", zorder=0)
        axis.plot(*arms.mean.T, "s", color="0.7", markersize=5, zorder=1)
        axis.scatter(*best.T, s=110, facecolors="none", edgecolors=colour, linewidths=1.8, zorder=2)
        dots = axis.scatter(*rows[name].T, c=weights[:, 0], cmap="viridis", s=26, vmin=0, vmax=1, zorder=3)
        served = judge(rows[name], best, weights)["served"]
        axis.set_title(f"{title}\n{served} of {len(weights)} asked policies found", fontsize=10)
        axis.set_xlabel("expected return 1")
        axis.set_aspect("equal")
    axes[0].set_ylabel("expected return 2")
    figure.colorbar(dots, ax=axes, label="asked weight of 1", shrink=0.9)
    handles = [
        axes[0].scatter([], [], s=110, facecolors="none", edgecolors="0.3", linewidths=1.8, label="asked for"),
        axes[0].scatter([], [], s=26, color="0.3", label="got"),
        axes[0].plot([], [], "s", color="0.7", markersize=5, label="one action")[0],
        axes[0].plot([], [], color="0.9", linewidth=7, label="mixtures of the ends")[0],
    ]
    axes[0].legend(handles=handles, loc="upper right", fontsize=8, frameon=False)
    return figure


def main(args: Args) -> dict[str, Any]:
    """Train everything, print the tables, write them and the picture, return the figures."""
    torch.set_num_threads(1)
    report, weights = Report(args.out), worlds.preferences(args.preferences)
    corners = torch.eye(2, dtype=worlds.DOUBLE)
    ends = worlds.treasures()
    made: dict[str, tuple[Callable[[], dict[str, Tensor]], Tensor]] = {
        "arms": (lambda: of_arms(worlds.concave_arms(), weights, args), corners),
        "coins": (lambda: of_arms(worlds.coins(), weights, args), corners),
        "sea": (lambda: of_sea(weights, args), torch.stack([ends[-1], ends[0]])),
    }
    results: dict[str, Any] = {"mu": worlds.MU, "preferences": len(weights), "worlds": {}}
    for world, (train, (most, least)) in made.items():
        best, rows = worlds.best_between(least, most, weights), train()
        table = results["worlds"][world] = {name: judge(row, best, weights) for name, row in rows.items()}
        report.say(f"\n{world}: utility of the expected return against the best there is, {len(weights)} preferences")
        report.say(f"  {'method':22s} within 2 %  mean regret  largest  rank correlation")
        for name, row in table.items():
            report.say(
                f"  {name:22s} {row['served']:4d} of {len(weights)} {row['mean_regret']:11.1%} "
                f"{row['largest_regret']:8.1%} {row['correlation'][0]:10.2f}"
            )
        if "(its critic's J)" in rows:
            bias = (rows["(its critic's J)"] - rows["Conditioned SER-STCH"]).abs()
            results["worlds"][world]["critic_bias"] = [float(bias.mean()), float(bias.max())]
            report.say(
                f"  The conditioned critic's J is off by {bias.mean():.3f} on average, {bias.max():.3f} at most."
            )
        if world == "arms" and args.picture is not None:
            args.picture.parent.mkdir(parents=True, exist_ok=True)
            draw(rows, best, weights, worlds.concave_arms()).savefig(args.picture, dpi=110)
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
