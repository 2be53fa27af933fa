"""Does an orthogonal initialisation with a small last layer train better than PyTorch's default?

Stable-Baselines3 and CleanRL start their networks so; the paper does not say. Two rows on mo-halfcheetah-v5 with both
initialisations of actor and critic, the same seeds, scored on fresh episodes after training.

Run ``python -m benchmarks.initialisation``; it prints a table and writes ``initialisation.json``.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro

from benchmarks._report import Report
from morl_blocks.metrics import compare
from morl_envs.source import find_source
from morl_recipes import ROWS, Recipe, train
from morl_recipes.recipe.spec import Spec
from morl_recipes.recipe.specs import AttentionWeighted


@dataclass(frozen=True)
class Args:
    """Train rows with both initialisations."""

    out: Path = Path("benchmarks/results/initialisation.json")
    """Where to write the figures."""
    rows: tuple[str, ...] = ("Linear", "PASTA (Ours)")
    """Rows of the group baselines."""
    env: str = "mo-halfcheetah-v5"
    """Environment; its own preference is used."""
    seeds: int = 10
    """Seeds per row and initialisation."""
    steps: int = 151_552
    """Environment steps per run."""
    episodes: int = 20
    """Fresh episodes of each last policy."""


def orthogonal(recipe: Recipe) -> Recipe:
    """Return the recipe with orthogonal networks."""
    actor, critic = recipe.actor, recipe.critic
    if not isinstance(actor, Spec) or not isinstance(critic, Spec):
        raise ValueError("`recipe` must hold specs of its networks, got a live module.")
    weighted = critic.kind is AttentionWeighted
    inner = critic.critic if weighted else critic
    changed = inner.but(init="orthogonal")
    return replace(
        recipe, actor=actor.but(init="orthogonal"), critic=critic.but(critic=changed) if weighted else changed
    )


def utilities(args: Args, recipe: Recipe) -> list[float]:
    """Return the expected utility of every seed's last policy on fresh episodes."""
    (preference, *_) = find_source(args.env).preferences
    result = train(
        recipe, args.env, [preference], range(args.seeds), args.steps, test_episodes=args.episodes, progress=False
    )
    return [float((run.test_final or {}).get("eu", np.nan)) for run in result.runs]


def main(args: Args) -> dict[str, Any]:
    """Train, print, write and return."""
    torch.set_num_threads(1)
    report = Report(args.out)
    results: dict[str, Any] = {}
    report.say(f"{args.env}, {args.steps} steps, {args.seeds} seeds: expected utility of last policies, fresh episodes")
    for name in args.rows:
        recipe = ROWS["baselines"][name]
        scores = {"default": utilities(args, recipe), "orthogonal": utilities(args, orthogonal(recipe))}
        paired = compare([scores["orthogonal"]], [scores["default"]]).difference
        results[name] = {**scores, "difference": [paired.estimate, paired.low, paired.high]}
        for kind, values in scores.items():
            report.say(f"  {name:14s} {kind:11s} mean {np.mean(values):8.1f}  std {np.std(values, ddof=1):7.1f}")
        interval = f"{paired.estimate:+.1f} [{paired.low:+.1f}, {paired.high:+.1f}]"
        report.say(f"  {name:14s} orthogonal - default: {interval} (95 %, paired)")
    report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
