"""The demo: PASTA against the linear weighting on stealth visual search, with a table, a picture and next steps.

``python -m examples.demo`` trains eight runs in a few minutes on two cores. It can be stopped and resumed.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from morl_envs import make_batch
from morl_envs.rendering.video import record_episode
from morl_recipes.analysis.tables.render import render_table
from morl_recipes.evaluation.saved_policy import acting
from morl_recipes.recipe.paper import REFERENCE, preference_label
from morl_recipes.recipe.settings import Settings
from morl_recipes.running.engines.local import LocalEngine
from morl_recipes.running.execute import run_sweep
from morl_recipes.running.plan import make_plan
from morl_recipes.running.stored_runs import load_policy
from morl_recipes.running.sweep import Sweep
from morl_recipes.store.frames import load_history, load_runs
from morl_recipes.store.store import Store

SWEEP = Sweep(
    rows=("PASTA", "Linear"),
    preferences=((0.2, 0.2, 0.6), (0.8, 0.1, 0.1)),
    seeds=(0, 1),
    settings=Settings(total_steps=30 * 2048, eval_every=5),
)
COLOURS = {REFERENCE: "#0f766e", "Linear": "#b45309"}
NEXT = {
    "morl-blocks report {folder}": "an interactive report of these runs",
    "morl-blocks play {folder} --video play.gif": "watch the best policy",
    "morl-blocks list": "all recipes and environments",
    "morl-blocks sweep smoke": "every recipe once, in minutes",
    "docs/quick_start.md, docs/your_own_ablation.md": "your own block in a short file",
}
CAUTION = """
Eight short runs show how things work, not which method is better: the paper's comparison has eight preferences and five
seeds. `morl-blocks sweep paper_baselines` trains that, sixteen times longer."""


def main(folder: Path = Path("runs/demo"), sweep: Sweep = SWEEP) -> int:
    """Train, print the table, draw the picture."""
    print("PASTA and Linear on stealth visual search: 2 preferences x 2 seeds, a few minutes on two cores.")
    outcome = run_sweep(make_plan(sweep), folder, LocalEngine(), command="python -m examples.demo")
    if not outcome.done:
        print("\n".join(["No run was finished:", *outcome.failed.values()]), file=sys.stderr)
        return 1
    print()
    print(render_table(outcome.store))
    picture = draw(outcome.store, folder / "demo.png")
    print(f"\nResults: {folder}    Picture: {picture}\n\nWhere to go next")
    if shutil.which("morl-blocks") is None:
        print(f"  {'source .venv/bin/activate':<50}so that the shell finds morl-blocks")
    for command, what in NEXT.items():
        print(f"  {command.format(folder=folder):<50}{what}")
    print(CAUTION)
    return 1 if outcome.failed else 0


def draw(store: Store, path: Path) -> Path:
    """Draw learning curves, and the path of each method's best policy in one episode."""
    from matplotlib.figure import Figure

    runs = load_runs(store)
    runs = runs[runs["status"] == "done"]
    history = load_history(store).dropna(subset=["hv"])
    methods = [method for method in COLOURS if method in set(runs["method"])]
    preferences = list(dict.fromkeys(runs["preference"]))
    figure = Figure(figsize=(11, 3.4 + 3.0), layout="constrained")
    axes = figure.subplots(2, max(2, len(preferences), len(methods)), squeeze=False)
    for axis in axes.flat:
        axis.set_axis_off()
    for axis, preference in zip(axes[0], preferences, strict=False):
        _curves(axis, history[history["preference"] == preference], methods, preference_label(preference))
    for axis, method in zip(axes[1], methods, strict=False):
        own: Any = runs[runs["method"] == method].to_dict("records")
        best = max(own, key=lambda run: float(run["peak_hv"]))
        axis.imshow(_last_picture(store, best))
        axis.set_title(f"{method}: one episode of its best policy", color=COLOURS[method])
    figure.savefig(path, dpi=130)
    return path


def _curves(axis: Any, history: pd.DataFrame, methods: list[str], label: str) -> None:
    """Draw the hypervolume over steps: thin lines for runs, a thick one for their mean."""
    axis.set_axis_on()
    for method in methods:
        table = history[history["method"] == method].pivot_table(index="steps", columns="seed", values="hv")
        axis.plot(table.index, table.to_numpy(), color=COLOURS[method], alpha=0.35, linewidth=1)
        axis.plot(table.index, table.mean(axis=1), color=COLOURS[method], linewidth=2.5, label=method)
    axis.set_title(f"preference {label}")
    axis.set_xlabel("environment steps")
    axis.set_ylabel("hypervolume of a validation")
    axis.set_ylim(bottom=0)
    axis.legend(frameon=False)


def _last_picture(store: Store, run: dict[str, Any]) -> NDArray[np.uint8]:
    """Play one episode and return its last picture, which shows the whole path."""
    env: Any = make_batch(run["env"], 1, 7)
    policy = acting(load_policy(store, run, "peak", env), run["preference"])
    return record_episode(env, policy, every=env.horizon)[-1]


if __name__ == "__main__":
    sys.exit(main())
