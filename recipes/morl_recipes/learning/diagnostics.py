"""What an iteration did: numbers for the history, and runs that met something that is not finite."""

from typing import NamedTuple

import torch
from torch import Tensor

from morl_blocks.ppo import approximate_kl, clip_fraction, clipped_objectives, explained_variance
from morl_recipes.learning.rollout import Rollout
from morl_recipes.learning.targets import Targets
from morl_recipes.learning.update import Update

CAUSES = ("observation", "reward", "value", "gradient", "parameter")


class Iteration(NamedTuple):
    """One iteration: its number, steps so far per run, numbers ``[R]`` or ``[R, m]``, and why runs stopped."""

    number: int
    steps: int
    numbers: dict[str, Tensor]
    failed: dict[int, str]


def diagnose(update: Update, actor: Tensor, data: Tensor, targets: Targets, clip: Tensor) -> dict[str, Tensor]:
    """Look at the rollout again with the updated actors, run by run to stay in the cache.

    Returns:
        Per run: KL divergence, clip fraction, entropy; per objective: clipped loss, explained variance of the critic
        that estimated the advantages, and mean attention.
    """
    rows = [_after(update, *own) for own in zip(actor.split(1), data.split(1), clip.split(1), strict=True)]
    result = {name: torch.cat([row[name] for row in rows]) for name in rows[0]}
    result["explained_variance"] = explained_variance(targets.value, targets.returns)
    result["attention"] = targets.attention.mean(1)
    return result


def _after(update: Update, actor: Tensor, data: Tensor, clip: Tensor) -> dict[str, Tensor]:
    inputs, action, old, advantage, *_ = data.split(list(update.columns), dim=-1)
    params = update.actor.layout.views(actor)
    raw, _ = update.actor.forward(params, inputs)
    log_prob, old = update.head.log_prob(raw, params, action), old.squeeze(-1)
    return {
        "kl": approximate_kl(log_prob, old),
        "clip_fraction": clip_fraction(log_prob, old, clip.unsqueeze(-1)),
        "entropy": update.head.entropy(raw, params).mean(-1),
        "loss_objective": clipped_objectives(log_prob, old, advantage, clip.unsqueeze(-1)),
    }


def find_failures(rollout: Rollout, targets: Targets, record: Tensor, params: tuple[Tensor, ...]) -> dict[int, str]:
    """Return the runs with a number that is not finite, and where it was met first. Waits for the device once."""
    places = (
        (rollout.inputs, rollout.next_observation),
        (rollout.reward,),
        (targets.value, targets.returns),
        (record,),
        params,
    )
    broken = torch.stack([_broken(*tensors) for tensors in places], dim=-1).cpu()
    return {run: CAUSES[int(row.int().argmax())] for run, row in enumerate(broken) if bool(row.any())}


def _broken(*tensors: Tensor) -> Tensor:
    finite = torch.stack([tensor.isfinite().flatten(1).all(-1) for tensor in tensors])
    return ~finite.all(0)
