"""Datasets that nobody trained: the plan of a real sweep, and scores that one chooses."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.publish import merge
from morl_recipes.analysis.datasets import Dataset
from morl_recipes.common.scores import summarise
from morl_recipes.recipe.run import Run
from morl_recipes.running.plan import make_plan
from morl_recipes.running.sweep import sweep_from

Level = Callable[[Run], float | None]


def made_up(
    level: Level,
    *,
    rows: Sequence[str] = ("all",),
    env: str = "stealth",
    name: str = "made-up",
    seeds: Sequence[int] = (0, 1, 2),
    preferences: Any = ((0.1, 0.7, 0.2), (0.8, 0.1, 0.1)),
    steps: int = 4096,
) -> Dataset:
    """Return a dataset whose runs have the normalised return ``level(run)`` in every objective; ``None`` for no run.

    The best validation is a tenth above it.
    """
    content: dict[str, Any] = {"rows": rows, "envs": [env], "seeds": seeds, "total_steps": steps}
    manifest = make_plan(sweep_from(content | ({"preferences": preferences} if preferences else {}))).manifest(
        "made up"
    )
    info = manifest.environments[env]
    low, high = (np.array(bound) for bound in info.bounds or ((), ()))
    lines = []
    for run in manifest.runs:
        height = level(run)
        if height is None:
            continue
        line: dict[str, Any] = {
            key: getattr(run, key) for key in ("run_id", "group", "method", "env", "preference", "seed", "steps")
        }
        line |= {"status": "done", "reason": "", "seconds": 1.0}
        line |= {"version": "0.2", "torch": "2.13.0", "commit": "c0ffee"}
        for point, factor in (("peak", 1.1), ("final", 0.9), ("test_peak", 1.0), ("test_final", 0.9)):
            returns = low + (high - low) * min(height * factor, 1.0)
            found = summarise(returns + np.array([[-0.01], [0.01]]), np.array(run.preference), info.bounds)
            line |= {f"{point}_{key}": found[key] for key in ("hv", "eu")} | {f"{point}_steps": float(steps)}
            line |= {f"{point}_{i}": value for i, value in enumerate(found["returns"])}
            line |= {f"{point}_episodes": 2.0, f"{point}_hv_se": found["hv_se"], f"{point}_eu_se": found["eu_se"]}
        lines.append(line)
    return merge([("made up", Dataset(name, manifest, pd.DataFrame(lines)))], name)


def noisy(levels: dict[str, float], default: float = 0.5, noise: float = 0.004, seed: int = 0) -> Level:
    """Return levels by method with a little noise per run."""
    generator = np.random.default_rng(seed)
    return lambda run: levels.get(run.method, default) + noise * float(generator.normal())
