"""A batch: R runs of one recipe structure that are trained at once. Each run gives the same numbers as on its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import NamedTuple

import torch
from torch import Tensor

from morl_blocks.ppo import ReturnNormalizer
from morl_envs.protocol import TensorEnv
from morl_envs.source import EnvSource
from morl_recipes.common import checks
from morl_recipes.common.seeds import derive
from morl_recipes.learning.adam import AdamState
from morl_recipes.learning.blocks import Combine, Samplers, Scalarizers
from morl_recipes.learning.compiling import Fused, pays
from morl_recipes.learning.iteration import iterate
from morl_recipes.learning.minibatch import Samples
from morl_recipes.learning.networks import Learner, make_networks
from morl_recipes.learning.observations import ObservationScale
from morl_recipes.learning.rollout import Collector, Rollout
from morl_recipes.learning.streams import Streams
from morl_recipes.learning.targets import Accrual, Targets
from morl_recipes.learning.update import Update
from morl_recipes.recipe.ppo import PPO
from morl_recipes.recipe.run import Run, check_batch
from morl_recipes.recipe.settings import Settings

CHUNK = 8


class Draws(NamedTuple):
    """All random numbers of one iteration: actions, minibatches, the combiner, preferences of new episodes."""

    noise: Tensor
    rows: Tensor
    combiner: Tensor | None
    preferences: Tensor | None


class Batch:
    """R runs of one recipe structure and their complete state; updates process at most ``chunk`` runs at once."""

    def __init__(self, runs: Sequence[Run], source: EnvSource, settings: Settings, *, chunk: int = CHUNK) -> None:
        check_batch(runs)
        self.runs, self.source, self.settings = list(runs), source, settings
        self.device = torch.device(settings.device)
        self.ppo: PPO = runs[0].recipe.ppo
        if self.ppo.steps_per_iteration % settings.num_envs:
            checks.fail("num_envs", f"divide steps_per_iteration ({self.ppo.steps_per_iteration})", settings.num_envs)
        self.hyper = {name: tensor.to(self.device) for name, tensor in hyper_parameters(runs).items()}
        self.env = self.open_env("environment", settings.num_envs)
        self.objectives = len(self.env.objectives)
        for run in runs:
            checks.preference(run.preference, self.objectives)
        self.preferences = torch.tensor([run.preference for run in runs], device=self.device)
        self._make_blocks(chunk)
        self._make_state()

    def _make_blocks(self, chunk: int) -> None:
        recipes, seeds = [run.recipe for run in self.runs], [run.seed for run in self.runs]
        # Parts of equal size are compiled only once.
        self.chunk = math.ceil(len(recipes) / math.ceil(len(recipes) / checks.at_least("chunk", chunk, 1)))
        self.samplers = Samplers(recipes) if recipes[0].conditioned else None
        names = ("learning", "evaluation") if self.samplers is None else ("learning", "evaluation", "preferences")
        self.streams = {name: Streams(seeds, name) for name in names}
        networks = make_networks(self.runs, self.env)
        self.actor, self.critic = (
            AdamState.of(flat.to(self.device)) for flat in (networks.actor_params, networks.critic_params)
        )
        for module in (networks.actor, networks.critic):
            module.to(self.device)
        self.learner = Learner(recipes[0], networks, self.objectives, self.settings.update)
        self.scalarizers, self.combine = Scalarizers(recipes).to(self.device), Combine(recipes, self.objectives)
        self.forms = [recipe.advantage.build() for recipe in recipes]
        self.iterations = math.ceil(self.settings.total_steps / self.ppo.steps_per_iteration)
        updates = self.iterations * self.ppo.epochs * (self.ppo.steps_per_iteration // self.ppo.minibatch_size)
        self._fuse = pays(self.settings.compile, updates, len(self.runs), batched=self.combine.batched)
        self._updates: dict[int, Update] = {}

    def _make_state(self) -> None:
        count, envs = len(self.runs), self.settings.num_envs
        first = self.draw_preferences(envs)
        given = self.preferences.unsqueeze(1).repeat(1, envs, 1).contiguous()
        preferences, keep = given if first is None else first, self.forms[0].at_expectation
        self.collector = Collector(self.env, self.learner.actor, preferences, keep_initial=keep)
        normalized = self.source.normalize_observations
        self.scale = ObservationScale(count, self.env.observation_dim, self.device) if normalized else None
        self.normalizer = ReturnNormalizer(self.objectives, (count,)).to(self.device)
        self.conflict = torch.zeros(count, device=self.device)
        self.carry = torch.zeros(count, envs, self.objectives, device=self.device)
        whole = self.forms[0].whole_episode
        self.accrual = Accrual(count, envs, self.objectives, self.device) if whole else None
        self.alive = torch.ones(count, dtype=torch.bool, device=self.device)
        self.iteration, self.updates = 0, 0

    @property
    def steps(self) -> int:
        """Environment steps that each run has collected."""
        return self.iteration * self.ppo.steps_per_iteration

    @property
    def compiled(self) -> bool:
        """Whether the update is compiled: if it was requested or is worth it, and has not failed."""
        return self._fuse and all(own.step.fused for own in self._updates.values() if isinstance(own.step, Fused))

    @property
    def how(self) -> str:
        """The form of the update: ``"fast"`` or ``"generic"``, and whether it is compiled."""
        return f"{'fast' if self.learner.fast else 'generic'}{', compiled' if self.compiled else ''}"

    @property
    def mu(self) -> Tensor:
        """Smoothness of each run, ``[R]``; NaN for scalarizers without one."""
        return self.scalarizers.mu.to(self.conflict)

    def policies(self) -> list[Tensor]:
        """Return the tensors of a policy: parameters ``[R, P]`` and the observation statistics, if there are any."""
        return [self.actor.params, *self.statistics()[:2]]

    def open_env(self, stream: str, count: int) -> TensorEnv:
        """Open ``count`` environments per run, each with a seed derived from its run's seed."""
        seeds = [derive(run.seed, stream, index) for run in self.runs for index in range(count)]
        return self.source.make(len(seeds), seeds)

    iterate = iterate

    def draw(self) -> Draws:
        """Draw the iteration's random numbers: a few calls per run, none per step."""
        ppo, learning, actor = self.ppo, self.streams["learning"], self.learner.actor.module
        shape = (ppo.steps_per_iteration // self.settings.num_envs, self.settings.num_envs, actor.noise_dim)
        noise = learning.noise(actor.noise, *shape)
        rows = learning.permutations(ppo.epochs, ppo.steps_per_iteration)
        batches = rows.reshape(len(self.runs), -1, ppo.minibatch_size).transpose(0, 1)
        combiner = self.combine.draw(len(batches), self.objectives, learning.generators)
        noise, batches = (tensor.contiguous().to(self.device) for tensor in (noise, batches))
        combiner = None if combiner is None else combiner.contiguous().to(self.device)
        return Draws(noise, batches, combiner, self.draw_preferences(*shape[:2]))

    def draw_preferences(self, *shape: int) -> Tensor | None:
        """Draw preferences ``[R, *shape, m]``; ``None``, without a draw, if every run keeps its own."""
        if self.samplers is None:
            return None
        return self.samplers.draw(shape, self.objectives, self.streams["preferences"].generators).to(self.device)

    def values(self, inputs: Tensor) -> Tensor:
        """Return the critics' values ``[R, N, m]`` of inputs ``[R, E, T, n + m]``, run by run to fit into the cache."""
        pairs = zip(self.critic.params.split(1), inputs.flatten(1, 2).split(1), strict=True)
        return torch.cat([self.learner.critic.values(params, own) for params, own in pairs])

    def samples(self, rollout: Rollout, targets: Targets) -> Samples:
        """Return the training data of the update, all ``[R, N, ...]``."""
        inputs, action, output = rollout.inputs.flatten(1, 2), rollout.action.flatten(1, 2), rollout.output
        flat = output.flatten(1, 2) if isinstance(output, Tensor) else tuple(part.flatten(1, 2) for part in output)
        log_prob = self.learner.actor.ask(self.actor.params, "log_prob", flat, action)
        checks.returned(self.learner.actor.module, "log_prob", log_prob, inputs.shape[:-1])
        return Samples(inputs, action, log_prob, targets.advantage, targets.target, targets.attention)

    def learning_rate(self) -> Tensor:
        """Return the runs' learning rates in this iteration, ``[R]``."""
        progress = min(1.0, self.steps / self.settings.total_steps)
        return self.hyper["learning_rate"] * (1 - self.hyper["learning_rate_decay"] * progress)

    def update_of(self, part: slice) -> Update:
        """Return the update of some of the runs; parts share one unless each run has its own combiner."""
        key = 0 if self.combine.batched else part.start
        if key not in self._updates:
            update = self._updates[key] = self.learner.update(self.combine.part(part))
            update.standardise = self.ppo.normalize_advantages == "minibatch"
            if self._fuse:
                update.step, update.inference = Fused(update.step, self.device, self.settings.compile), False
        return self._updates[key]

    def restore_stopped(self, before: list[Tensor]) -> None:
        """Restore the state before this iteration for runs that stopped."""
        for tensor, old in zip(self.carried(), before, strict=True):
            mask = self.alive.reshape(-1, *[1] * (tensor.dim() - 1))
            tensor.copy_(torch.where(mask, tensor, old))

    def carried(self) -> list[Tensor]:
        """Return the state that a run gets back if it fails in an iteration."""
        bounds = [self.normalizer.low, self.normalizer.high]
        return [*self.actor, *self.critic, *bounds, self.conflict, *self.statistics()]

    def statistics(self) -> list[Tensor]:
        """Return the observation statistics: mean, variance and count, if there are any."""
        return [] if self.scale is None else [self.scale.mean, self.scale.variance, self.scale.count]


def hyper_parameters(runs: Sequence[Run]) -> dict[str, Tensor]:
    """Return every float of the runs' PPO settings as ``[R]``."""
    names = [f.name for f in fields(PPO) if type(f.default) is float]
    return {name: torch.tensor([getattr(run.recipe.ppo, name) for run in runs]) for name in names}
