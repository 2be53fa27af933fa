"""What helps a front by protocol B, and what does not: one change at a time, on tasks that the protocol does not have.

Two tasks of version 4 of MO-Gymnasium: the half-cheetah, and a walker that is rewarded for speed and for height as the
hopper of the protocol is. Discount, reference point and weights are those of the protocol, the trainings are short, and
the seeds are not those that anything is reported on. The figures go to ``front_ideas.jsonl``, one line each; a run that
was stopped continues. ``--table`` prints what is there.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import mo_gymnasium  # noqa: F401 - registers its environments
import numpy as np
import torch
import tyro
from numpy.typing import NDArray

from benchmarks._report import Report
from morl_blocks.metrics import eum, even_weights, front_hypervolume
from morl_envs import GymnasiumBatch
from morl_envs.source import find_source
from morl_recipes import EnvSource, Recipe, front_recipe, train_front
from morl_recipes.recipe.specs import Actor, Branched, Uniform

GAMMA, REFERENCE, WEIGHTS, ASKED, EPISODES = 0.99, (-100.0, -100.0), 101, 11, 2
COST = 1e-3


class HighWalker(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The walker with the two objectives of the hopper: speed, and ten times the height above the start.

    Both are less the cost of the control and more the bonus for staying up.
    """

    def __init__(self) -> None:
        super().__init__(gymnasium.make("mo-walker2d-v4").unwrapped)
        self.reward_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,))

    def step(self, action: NDArray[Any]) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step, and put the reward together."""
        observation, _, terminated, truncated, told = self.env.step(action)
        world: Any = self.env.unwrapped
        height, cost = 10 * (world.data.qpos[1] - world.init_qpos[1]), COST * np.square(action).sum()
        reward = np.array([told["x_velocity"] - cost, height - cost], dtype=np.float32) + world.healthy_reward
        return observation, reward, terminated, truncated, told


def sources() -> dict[str, EnvSource]:
    """Return where the tasks come from."""
    walker = EnvSource("high walker", lambda count, seeds: GymnasiumBatch(HighWalker, count, seeds, horizon=1000))
    return {"high walker": walker.complete(), "half-cheetah": find_source("mo-halfcheetah-v4").complete()}


OLD: dict[str, Any] = {"normalize_observations": False, "horizon": 1000, "normalize_targets": False}
SCALED: dict[str, Any] = OLD | {"normalize_observations": True}
RETURNS: dict[str, Any] = SCALED | {"normalize_targets": True}
SHORT: dict[str, Any] = RETURNS | {"horizon": 300}
IDEAS: dict[str, dict[str, Any]] = {
    "as it was": OLD,
    "scaled observations": SCALED,
    "... and normalised returns": RETURNS,
    "... and episodes of 300 steps": SHORT,
    "normalised returns, rate falls to 0": RETURNS | {"learning_rate_decay": 1.0},
    "short episodes, rate falls to 0": SHORT | {"learning_rate_decay": 1.0},
    "short episodes, rate falls to a tenth": SHORT | {"learning_rate_decay": 0.9},
    "short episodes, rate 5e-4": SHORT | {"learning_rate": 5e-4},
    "short episodes, rate 5e-4, falls to 0": SHORT | {"learning_rate": 5e-4, "learning_rate_decay": 1.0},
    "short episodes, rate 3e-4": SHORT | {"learning_rate": 3e-4},
    "short episodes, lambda 0.9": SHORT | {"gae_lambda": 0.9},
    "normalised returns, minibatches of 64, rate 3e-4": RETURNS | {"minibatch_size": 64, "learning_rate": 3e-4},
    "short episodes, 256 hidden units, rate 5e-4": SHORT | {"hidden": 256, "learning_rate": 5e-4},
    "short episodes, entropy bonus 0.001": SHORT | {"entropy_coefficient": 1e-3},
    "short episodes, entropy bonus 0.003": SHORT | {"entropy_coefficient": 3e-3},
    "short episodes, entropy bonus 0.003, rate falls to 0": SHORT
    | {"entropy_coefficient": 3e-3, "learning_rate_decay": 1.0},
    "short episodes, preferences drawn evenly": SHORT | {"preferences": "Uniform"},
    "short episodes, 32 environments": SHORT | {"num_envs": 32},
}
"""By name, what differs from the recipe for fronts; each of the first four adds one thing to the one before."""


@dataclasses.dataclass(frozen=True)
class Args:
    """Compare ideas on the tasks that they are chosen on."""

    out: Path = Path("benchmarks/results/front_ideas.json")
    """Where to write the table's figures; the lines of results lie beside it, as ``.jsonl``."""
    steps: int = 200_000
    """Environment steps of each training."""
    seeds: tuple[int, ...] = (100,)
    """Seeds."""
    tasks: tuple[str, ...] = ("high walker", "half-cheetah")
    """Tasks."""
    ideas: tuple[str, ...] = tuple(IDEAS)
    """Ideas."""
    table: bool = False
    """Train nothing."""


def main(args: Args) -> dict[str, Any]:
    """Train what is missing, print the table, write the JSON and return it."""
    torch.set_num_threads(1)
    lines = args.out.with_suffix(".jsonl")
    results = [json.loads(line) for line in lines.read_text().splitlines()] if lines.exists() else []
    done = {(row["task"], row["idea"], row["seed"], row["steps"]) for row in results}
    worlds = {} if args.table else sources()
    turns = [(task, idea, seed, args.steps) for seed in args.seeds for task in args.tasks for idea in args.ideas]
    for turn in [] if args.table else turns:
        if turn in done:
            continue
        results.append(measured(worlds[turn[0]], *turn))
        with lines.open("a") as file:
            file.write(json.dumps(results[-1]) + "\n")
        print(results[-1], flush=True)
    report = Report(args.out)
    figures = means(results)
    columns = {"idea": 52, "steps": 9, "seeds": 5, "HV": 9, "EUM": 7}
    for task in args.tasks:
        own = [row for row in figures if row["task"] == task]
        report.say("", task, " ".join(name.ljust(width) for name, width in columns.items()).rstrip())
        for row in own:
            cells = [row["idea"], f"{row['steps']:,}", str(row["seeds"]), f"{row['HV']:.0f}", f"{row['EUM']:.1f}"]
            report.say(
                " ".join(cell.ljust(width) for cell, width in zip(cells, columns.values(), strict=True)).rstrip()
            )
    report.write({"rows": figures})
    return {"rows": figures}


def means(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row per task, idea and length: means over seeds.

    Example:
        >>> row = {"task": "t", "idea": "as it was", "steps": 5, "EUM": 1.0}
        >>> means([{**row, "seed": 0, "HV": 1.0}, {**row, "seed": 1, "HV": 2.0}])
        [{'task': 't', 'idea': 'as it was', 'steps': 5, 'seeds': 2, 'HV': 1.5, 'EUM': 1.0}]
    """
    rows = []
    for task, idea, steps in dict.fromkeys((row["task"], row["idea"], row["steps"]) for row in results):
        own = [row for row in results if (row["task"], row["idea"], row["steps"]) == (task, idea, steps)]
        count = {"task": task, "idea": idea, "steps": steps, "seeds": len(own)}
        rows.append(count | {name: sum(row[name] for row in own) / len(own) for name in ("HV", "EUM")})
    return sorted(rows, key=lambda row: (row["task"], row["steps"], list(IDEAS).index(row["idea"])))


def measured(source: EnvSource, task: str, idea: str, seed: int, steps: int) -> dict[str, Any]:
    """Train one seed of an idea; return its figures."""
    how = dict(IDEAS[idea])
    outside = {name: how.pop(name) for name in ("normalize_observations", "horizon", "num_envs") if name in how}
    recipe = changed(front_recipe(source), how)
    settings: dict[str, Any] = {"total_steps": steps, "eval_episodes": EPISODES, "eval_every": 10**9, "compile": False}
    front = train_front(recipe, source, ASKED, [seed], gamma=GAMMA, progress=False, **outside, **settings)
    volume = front_hypervolume(front.returns, REFERENCE, allow_empty=True)
    utility = eum(front.returns, even_weights(len(REFERENCE), WEIGHTS))
    return {"task": task, "idea": idea, "seed": seed, "steps": steps, "HV": round(volume, 1), "EUM": round(utility, 3)}


def changed(recipe: Recipe, how: dict[str, Any]) -> Recipe:
    """Return a recipe with other numbers of PPO, other sizes of its networks, or other preferences.

    Example:
        >>> dict(changed(Recipe(), {"hidden": 256}).critic.values)["hidden"]
        256
    """
    how = dict(how)
    if (hidden := how.pop("hidden", None)) is not None:
        actor = Actor(init="orthogonal", log_std=-1.5, hidden=hidden)
        recipe = replace(recipe, actor=actor, critic=Branched(hidden=hidden))
    if how.pop("preferences", None) is not None:
        recipe = replace(recipe, preferences=Uniform())
    return replace(recipe, ppo=replace(recipe.ppo, **how))


if __name__ == "__main__":
    main(tyro.cli(Args))
