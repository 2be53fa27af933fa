r"""One iteration of PASTA, the paper's Algorithm 2, for R runs at once.

The comments give the algorithm's line numbers. Line 3 is in :mod:`~morl_recipes.learning.rollout`, lines 4 to 6 are in
:mod:`~morl_recipes.learning.targets`, lines 9 to 13 in :mod:`~morl_recipes.learning.update` (any blocks) or its faster
equivalent :mod:`~morl_recipes.learning.fast`, line 14 in :mod:`~morl_recipes.learning.blocks` and line 15 in
:mod:`~morl_recipes.learning.adam`.

If preferences differ between samples, each sample's advantages are multiplied by its own attention before the losses,
see :class:`~morl_recipes.learning.blocks.Weighing`. Otherwise the combiner gets the mean attention of the minibatch.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from morl_recipes.learning.adam import AdamState, StepSize, adam, step_sizes
from morl_recipes.learning.diagnostics import Iteration, diagnose, find_failures
from morl_recipes.learning.minibatch import Hyper, Minibatch, Rows, Samples, minibatches
from morl_recipes.learning.rollout import episode_returns
from morl_recipes.learning.targets import gae, targets_of

if TYPE_CHECKING:
    from morl_recipes.learning.batch import Batch
    from morl_recipes.learning.update import Update

RECORD = ("conflict", "actor_gradient", "critic_gradient", "loss_value")
"""Quantities that a gradient step records for each run."""


@torch.no_grad()
def iterate(batch: Batch) -> Iteration:
    """Train every run of a batch for one iteration, in place; return the results of each run."""
    before = [tensor.clone() for tensor in batch.carried()]
    draws = batch.draw()

    # Line 3: collect trajectories with the policies.
    rollout = batch.collector.collect(batch.actor.params, draws.noise, batch.scale, draws.preferences)
    # Line 4: vector advantages and returns, by GAE per objective. They are normalised in line 6.
    estimates = gae(batch, rollout)
    # Lines 5 and 6: `targets_of` steps the schedulers, which choose the smoothness mu from the conflict kappa of the
    # previous iteration. Then it computes the attention eta at the normalised returns, with this mu.
    targets = targets_of(batch, rollout, estimates)
    samples = batch.samples(rollout, targets)

    count, runs = len(draws.rows), len(batch.runs)
    # Line 7: start the sums of the recorded quantities at zero.
    record = samples.inputs.new_zeros(runs, len(RECORD))
    sizes = step_sizes(batch.learning_rate(), batch.updates, count)
    hyper = Hyper(*(batch.hyper[name] for name in Hyper._fields))
    # Lines 8 to 17: the minibatches of all epochs, for as many runs at a time as fit into the cache.
    for start in range(0, runs, batch.chunk):
        part = slice(start, start + batch.chunk)
        update, own, sums = batch.update_of(part), hyper.runs(part), record[part]
        networks = batch.actor.runs(part), batch.critic.runs(part)
        chosen, rows = Samples(*(column[part] for column in samples)), draws.rows[:, part]
        data: Iterable[Minibatch | Rows] = minibatches(
            chosen, rows, own, update.combine.weigh, standardise=update.standardise
        )
        if batch.compiled:  # the compiled step gathers its rows itself
            data = [Rows(chosen, minibatch) for minibatch in rows.unbind(0)]
        noises = [None] * count if draws.combiner is None else draws.combiner[:, part].unbind(0)
        with torch.inference_mode(update.inference):
            for minibatch, noise, size in zip(data, noises, sizes.steps(part), strict=True):
                update.step(*networks, minibatch, noise, own, size, sums)
    batch.updates += count
    record = record / count
    # Line 18: kappa is the mean conflict of all minibatches.
    batch.conflict = record[:, 0].nan_to_num(0.0)

    if batch.scale is not None:
        batch.scale.update(rollout.next_observation)
    episodes, batch.carry = episode_returns(rollout.reward, rollout.done, batch.carry)
    batch.iteration += 1
    diagnostics = diagnose(batch.learner.actor, batch.actor.params, batch.learner.loss, samples, targets, hyper.clip)
    params = (batch.actor.params, batch.critic.params)
    # Stop runs that have just failed, and restore their state of before this iteration.
    failed = find_failures(rollout, targets, record, params, tuple(batch.statistics()))
    failed = {run: cause for run, cause in failed.items() if batch.alive[run]}
    batch.alive[list(failed)] = False
    batch.restore_stopped(before)
    recorded = dict(zip(RECORD, record.unbind(-1), strict=True))
    metrics = {"mu": batch.mu, **recorded, **diagnostics, "episode": episodes}
    return Iteration(batch.iteration, batch.steps, metrics, failed)


def gradient_step(
    update: Update,
    actor: AdamState,
    critic: AdamState,
    minibatch: Minibatch | Rows,
    noise: Tensor | None,
    hyper: Hyper,
    size: StepSize,
    record: Tensor,
) -> None:
    """Take one gradient step of every run in place: lines 9 to 16 for one minibatch, or its rows of the samples.

    ``noise`` is that of the combiner, ``[R, ...]``, if it draws any. ``record [R, 4]`` has the running sums of the
    quantities in ``RECORD``, with norms before the clip; it is updated in place, too.
    """
    if isinstance(minibatch, Rows):
        minibatch = minibatch.gather(hyper, update.combine.weigh, standardise=update.standardise)
    # Lines 9 to 11: the critic, by its own loss.
    loss, critic_gradient = update.critic_gradient(critic.params, minibatch, hyper)
    # Line 13: one gradient per objective. The fast update gets their inner products without them.
    gramian, weighted_sum = update.objective_gradients(actor.params, minibatch, hyper)
    # Line 14: PCGrad, or another combiner, computes weights from the inner products only.
    conflict, weights = update.combine(gramian, minibatch.importance, noise)
    # Line 15: the actor, by the weighted sum; the entropy bonus is added after the combination.
    actor_norm = adam(actor, weighted_sum(weights), hyper.max_gradient_norm, size)
    critic_norm = adam(critic, critic_gradient, hyper.max_gradient_norm, size)
    # Line 16: record the conflict of the minibatch.
    record += torch.stack([conflict, actor_norm, critic_norm, loss], dim=-1)
