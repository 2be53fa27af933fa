"""Train and evaluate a front under a protocol of the literature, and compare it with published values."""

from __future__ import annotations

from typing import Any

import pandas as pd

from morl_blocks import metrics
from morl_recipes.common import checks
from morl_recipes.common.text import for_terminal
from morl_recipes.recipe.protocols import Task, protocol
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.recipe.settings import Settings
from morl_recipes.running.fronts.front import Front

EPISODES = 5
"""Episodes per policy and preference, as in C-MORL's scripts, with most likely actions."""
EVAL_EVERY = 100
"""Iterations between validations, which give a front nothing but its learning curve."""
COLUMNS = ("method", "HV", "HV ±", "EUM", "EUM ±", "sparsity", "seeds", "steps", "source")
STYLES = {"HV ±": ".2g", "EUM ±": ".2g", "sparsity": ".3g", "seeds": "d", "steps": ",d"}


def protocol_task(name: str, env: str) -> Task:
    """Return the task of a protocol (``"B"``, ``"exact"``); one without comparable published values raises an error."""
    found = protocol(name)
    task = found.task(env)
    if not task.comparable:
        known = ", ".join(own.env for own in found.tasks if own.comparable) or "none"
        checks.fail("env", f"be comparable under protocol {name} ({known})", f"{task.env}: {task.reason}")
    return task


def protocol_settings(task: Task, recipe: Recipe, settings: Settings | None = None) -> dict[str, Any]:
    """Return the arguments of :func:`~morl_recipes.train_front` for a task, except recipe and seeds.

    A protocol's number of steps is rounded down to whole iterations, so that a front never uses more than the others.
    """
    own = settings or Settings(test_episodes=0)
    if task.steps is not None:
        each = recipe.ppo.steps_per_iteration
        own = own.change(total_steps=max(1, task.steps // each) * each)
    own = own.change(eval_every=EVAL_EVERY, eval_episodes=EPISODES)
    return {
        "env": task.env,
        "preferences": task.grid().tolist(),
        "gamma": task.gamma,
        "settings": own,
        "total_steps": own.total_steps,
    }


def front_scores(front: Front, task: Task) -> pd.DataFrame:
    """Return hypervolume, expected utility and sparsity of every seed's front, one row per seed."""
    rows = []
    for seed in sorted(set(front.seeds)):
        points = front.of(seed).points
        volume = metrics.front_hypervolume(points, task.reference, allow_empty=True)
        utility, gaps = metrics.eum(points, task.grid()), metrics.sparsity(points)
        rows.append({"seed": seed, "HV": volume, "EUM": utility, "sparsity": gaps, "points": len(points)})
    return pd.DataFrame(rows)


def beside_published(scores: pd.DataFrame, task: Task, method: str, steps: int) -> pd.DataFrame:
    """Return one row for our method and for every published one; ± is a standard deviation over seeds."""
    own: dict[str, Any] = {"method": method, "sparsity": scores["sparsity"].mean(), "seeds": len(scores)}
    for name in ("HV", "EUM"):
        own |= {name: scores[name].mean(), f"{name} ±": scores[name].std()}
    rows = [own | {"steps": steps, "source": "this training"}]
    for other, lines in task.published().groupby("method", sort=False):
        row: dict[str, Any] = {"method": other} | {name: lines[name].iloc[0] for name in ("seeds", "steps", "source")}
        for line in lines.to_dict("records"):
            metric = line["metric"]
            row |= {metric: line["value"], f"{metric} ±": line["deviation"]}
            if "suspect" in line["source"]:
                row["source"] = line["source"].replace("suspect", f"suspect {metric}")
        rows.append(row)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def as_text(table: pd.DataFrame) -> str:
    """Return the table of :func:`beside_published` as aligned text; missing values are left empty."""
    shown = {}
    for name, column in table.items():
        style = "" if name in ("method", "source") else STYLES.get(str(name), ".4g")
        cells = ["" if pd.isna(cell) else format(cell, style) if style else for_terminal(cell) for cell in column]
        shown[name] = cells if style else pd.Series(cells).str.ljust(max(map(len, cells)))
    return pd.DataFrame(shown).to_string(index=False)
