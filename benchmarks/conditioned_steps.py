"""Does one policy of all preferences reach the front of forty separate ones, at a tenth of their steps?

The recipe of ``front_recipe`` trains forty policies of one preference each, and one policy that is asked for the same
forty preferences, with a tenth of the steps of all forty together. Hypervolume and discount are those of protocol B.

Run ``python -m benchmarks.conditioned_steps``; it prints a table and writes ``conditioned_steps.json``.
"""

import dataclasses
from pathlib import Path
from time import process_time
from typing import Any

import torch
import tyro

from benchmarks._report import Report
from morl_recipes import front_recipe, protocol, train_front


@dataclasses.dataclass(frozen=True)
class Args:
    """Compare one conditioned policy with separate ones."""

    out: Path = Path("benchmarks/results/conditioned_steps.json")
    """Where to write the figures."""
    envs: tuple[str, ...] = ("mo-hopper-2obj-v5", "mo-halfcheetah-v5")
    """Environments; the half-cheetah is measured like the hopper."""
    members: int = 40
    """Separate policies."""
    steps: int = 102_400
    """Environment steps of each separate policy; the one for all takes a tenth of all of them."""
    seeds: int = 1
    """Seeds."""
    episodes: int = 2
    """Episodes per policy and preference."""
    compile: bool = False
    """Compile the update."""


def main(args: Args) -> dict[str, Any]:
    """Train both, print the table, write the JSON and return it."""
    torch.set_num_threads(1)
    report, results = Report(args.out), dict[str, Any](steps=args.steps, members=args.members, rows=[])
    task = protocol("B").task("mo-hopper-2obj-v5")
    tenth = args.steps * args.members // 10
    report.say(f"{args.members} policies of {args.steps:,} steps each, against one policy of {tenth:,} steps")
    report.say(f"  {'environment':20s} {'seed':>4s} {'HV separate':>12s} {'HV one':>12s} {'share':>7s} {'CPU s':>13s}")
    for env in args.envs:
        for seed in range(args.seeds):
            volumes, seconds = [], []
            for conditioned, steps in ((False, args.steps), (True, tenth)):
                start = process_time()
                front = train_front(
                    *(front_recipe(env), env, args.members, [seed], steps),
                    conditioned=conditioned,
                    gamma=task.gamma,
                    eval_episodes=args.episodes,
                    eval_every=10**9,
                    compile=args.compile,
                    progress=False,
                )
                seconds.append(process_time() - start)
                volumes.append(front.hypervolume(task.reference, allow_empty=True))
            share = volumes[1] / volumes[0] if volumes[0] else float("nan")
            row = {"env": env, "seed": seed, "separate": volumes[0], "one": volumes[1], "share": share}
            results["rows"].append(row | {"seconds": seconds})
            figures = f"{volumes[0]:12.6g} {volumes[1]:12.6g} {share:7.3f} {seconds[0]:6.0f} {seconds[1]:6.0f}"
            report.say(f"  {env:20s} {seed:4d} {figures}")
            report.write(results)
    return results


if __name__ == "__main__":
    main(tyro.cli(Args))
