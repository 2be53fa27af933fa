"""Results of an iteration: numbers for the history, and runs with a value that is not finite."""

from typing import NamedTuple

import torch
from torch import Tensor

from morl_blocks.ppo import ObjectiveLoss, approximate_kl, clip_fraction, explained_variance
from morl_recipes.learning.lift import StackedActor
from morl_recipes.learning.minibatch import Samples
from morl_recipes.learning.rollout import Rollout
from morl_recipes.learning.targets import Targets

CAUSES = ("observation", "reward", "value", "gradient", "parameter", "observation statistics")


class Iteration(NamedTuple):
    """One iteration: its number, steps so far per run, ``metrics`` ``[R]`` or ``[R, m]``, and why runs stopped."""

    number: int
    steps: int
    metrics: dict[str, Tensor]
    failed: dict[int, str]


def diagnose(
    actor: StackedActor, flat: Tensor, loss: ObjectiveLoss, data: Samples, targets: Targets, clip: Tensor
) -> dict[str, Tensor]:
    """Evaluate the rollout again with the updated actors, run by run to fit into the cache.

    The explained variance is that of the critic that estimated the advantages.
    """
    rows = []
    for run in range(len(flat)):
        own, params, epsilon = Samples(*(c[run : run + 1] for c in data)), flat[run : run + 1], clip[run : run + 1]
        output = actor.output(params, own.inputs)
        log_prob, old = actor.ask(params, "log_prob", output, own.action), own.old_log_prob
        rows.append(
            {
                "kl": approximate_kl(log_prob, old),
                "clip_fraction": clip_fraction(log_prob, old, epsilon.unsqueeze(-1)),
                "entropy": actor.ask(params, "entropy", output).mean(-1),
                "loss_objective": loss(log_prob[0], old[0], own.advantage[0], epsilon[0]).unsqueeze(0),
            }
        )
    result = {name: torch.cat([row[name] for row in rows]) for name in rows[0]}
    result["explained_variance"] = explained_variance(targets.value, targets.returns)
    result["attention"] = targets.attention.mean(1)
    return result


def find_failures(
    rollout: Rollout, targets: Targets, record: Tensor, params: tuple[Tensor, ...], statistics: tuple[Tensor, ...]
) -> dict[int, str]:
    """Return the runs with a value that is not finite, and where it occurred first. Synchronises once."""
    places = (
        (rollout.inputs, rollout.next_observation),
        (rollout.reward,),
        (targets.value, targets.returns),
        (record,),
        params,
        statistics,
    )
    finite = [torch.stack([one.isfinite().flatten(1).all(1) for one in own]).all(0) for own in places if own]
    broken = ~torch.stack(finite, dim=-1).cpu()
    return {run: CAUSES[int(row.int().argmax())] for run, row in enumerate(broken) if bool(row.any())}
