"""A batch: R runs of one recipe structure, trained at once, each exactly as if it were alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from morl_blocks.ppo import ReturnNormalizer
from morl_envs.protocol import TensorEnv
from morl_recipes.common import checks
from morl_recipes.environments.source import EnvSource
from morl_recipes.learning.accrual import Accrual
from morl_recipes.learning.adam import Pace, Trainable
from morl_recipes.learning.blocks import Combine, Samplers, Scalarizers
from morl_recipes.learning.compiling import Fused, pays
from morl_recipes.learning.diagnostics import Iteration, diagnose, find_failures
from morl_recipes.learning.minibatch import Columns, Hyper, Minibatch, columns, flatten
from morl_recipes.learning.networks import Drive, make_networks
from morl_recipes.learning.observations import ObservationScale, scaled
from morl_recipes.learning.rollout import Collector, Rollout, episode_returns
from morl_recipes.learning.runs import Run, check_batch, hyper_parameters
from morl_recipes.learning.streams import Streams, derive
from morl_recipes.learning.targets import Targets, estimate, learn_from, restore
from morl_recipes.learning.update import RECORD, Step
from morl_recipes.recipe.settings import Settings

CHUNK = 8


class Draws(NamedTuple):
    """All random numbers of one iteration: of actions, minibatches, the combiner and coming episodes' preferences."""

    noise: Tensor
    rows: Tensor
    combiner: Tensor | None
    preferences: Tensor | None


class Batch:
    """R runs and everything that they carry from one iteration to the next.

    Args:
        runs: The runs; their recipes have one structure.
        source: Where environments come from.
        settings: How to train.
        chunk: Runs per update call; smaller parts fit the cache, and no run notices.
    """

    def __init__(self, runs: Sequence[Run], source: EnvSource, settings: Settings, *, chunk: int = CHUNK) -> None:
        check_batch(runs)
        self.runs, self.source, self.settings = list(runs), source, settings
        self.device, self.ppo = torch.device(settings.device), runs[0].recipe.ppo
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
        # Equal parts compile once.
        self.chunk = math.ceil(len(recipes) / math.ceil(len(recipes) / checks.at_least("chunk", chunk, 1)))
        self.samplers = Samplers(recipes) if recipes[0].conditioned else None
        names = ("learning", "evaluation") if self.samplers is None else ("learning", "evaluation", "preferences")
        self.streams = {name: Streams(seeds, name) for name in names}
        networks = make_networks(self.runs, self.env)
        self.actor, self.critic = (
            Trainable.of(flat.to(self.device)) for flat in (networks.actor_params, networks.critic_params)
        )
        for module in (networks.actor, networks.critic):
            module.to(self.device)
        self.drive = Drive(recipes[0], networks, self.objectives, self.settings.update)
        self.scalarizers, self.combine = Scalarizers(recipes).to(self.device), Combine(recipes, self.objectives)
        self.forms = [recipe.advantage.build() for recipe in recipes]
        self.iterations = math.ceil(self.settings.total_steps / self.ppo.steps_per_iteration)
        updates = self.iterations * self.ppo.epochs * (self.ppo.steps_per_iteration // self.ppo.minibatch_size)
        self._fuse = pays(self.settings.compile, updates, len(self.runs), batched=self.combine.batched)
        self._steps: dict[tuple[int, Columns], Step] = {}

    def _make_state(self) -> None:
        count, envs = len(self.runs), self.settings.num_envs
        first = self._fresh_preferences(envs)
        given = self.preferences.unsqueeze(1).repeat(1, envs, 1).contiguous()
        self.collector = Collector(
            self.env, self.drive.actor, given if first is None else first, keep_initial=self.forms[0].at_expectation
        )
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
        """Whether the update is compiled: it was asked for or pays, and has not failed."""
        return self._fuse and all(step.fused for step in self._steps.values() if isinstance(step, Fused))

    @property
    def how(self) -> str:
        """Which update trains: ``"fast"`` or ``"generic"``, and whether compiled."""
        return f"{'fast' if self.drive.fast else 'generic'}{', compiled' if self.compiled else ''}"

    @property
    def mu(self) -> Tensor:
        """Smoothness of each run, ``[R]``; NaN for scalarizers that have none."""
        return self.scalarizers.mu.to(self.conflict)

    def policies(self) -> list[Tensor]:
        """Return what a policy consists of: parameters ``[R, P]`` and observation statistics, when there are any."""
        return [self.actor.params, *self._statistics()[:2]]

    def open_env(self, stream: str, count: int) -> TensorEnv:
        """Open ``count`` environments per run, each with a seed derived from its run's seed."""
        seeds = [derive(run.seed, stream, index) for run in self.runs for index in range(count)]
        return self.source.make(len(seeds), seeds)

    @torch.no_grad()
    def iterate(self) -> Iteration:
        """Train for one iteration: collect, estimate, weigh, update. Returns what happened, run by run."""
        before = [tensor.clone() for tensor in self._carried()]
        draws = self._draw()
        rollout = self.collector.collect(self.actor.params, draws.noise, self.scale, draws.preferences)
        targets = self._targets(rollout)
        data = self._data(rollout, targets)
        record = self._epochs(data, draws)
        self.conflict = record[:, 0].nan_to_num(0.0)
        if self.scale is not None:
            self.scale.update(rollout.next_observation)
        episodes, self.carry = episode_returns(rollout.reward, rollout.done, self.carry)
        self.iteration += 1
        seen = diagnose(self.drive.actor, self.actor.params, self.drive.loss, data, targets, self.hyper["clip"])
        recorded = dict(zip(RECORD, record.unbind(-1), strict=True))
        params = (self.actor.params, self.critic.params)
        failed = find_failures(rollout, targets, record, params, tuple(self._statistics()))
        failed = {run: cause for run, cause in failed.items() if self.alive[run]}
        self.alive[list(failed)] = False
        self._restore_dead(before)
        return Iteration(self.iteration, self.steps, {"mu": self.mu, **recorded, **seen, "episode": episodes}, failed)

    def _draw(self) -> Draws:
        """Draw the iteration's random numbers: a few calls per run, none per step."""
        ppo, learning, actor = self.ppo, self.streams["learning"], self.drive.actor.module
        shape = (ppo.steps_per_iteration // self.settings.num_envs, self.settings.num_envs, actor.noise_dim)
        noise = learning.noise(actor.noise, *shape)
        rows = learning.permutations(ppo.epochs, ppo.steps_per_iteration)
        batches = rows.reshape(len(self.runs), -1, ppo.minibatch_size).transpose(0, 1)
        combiner = self.combine.draw(len(batches), self.objectives, learning.generators)
        noise, batches = (tensor.contiguous().to(self.device) for tensor in (noise, batches))
        combiner = None if combiner is None else combiner.contiguous().to(self.device)
        return Draws(noise, batches, combiner, self._fresh_preferences(*shape[:2]))

    def _fresh_preferences(self, *shape: int) -> Tensor | None:
        """Draw preferences ``[R, *shape, m]``; ``None``, and no draw, where every run keeps its own."""
        if self.samplers is None:
            return None
        return self.samplers.draw(shape, self.objectives, self.streams["preferences"].generators).to(self.device)

    def _targets(self, rollout: Rollout) -> Targets:
        value, next_value = self._values(rollout.inputs), self._values(rollout.next_inputs)
        if self.ppo.normalize_targets:
            value, next_value = (restore(self.normalizer, own) for own in (value, next_value))
        numbers = self.hyper["gamma"], self.hyper["gae_lambda"]
        advantage, returns = estimate(rollout, value, next_value, *numbers, self.ppo)
        preferences = rollout.inputs[..., -self.objectives :].flatten(1, 2)
        before = None
        if self.accrual is not None:
            collected, discount = self.accrual.over(rollout.reward, rollout.done, self.hyper["gamma"])
            before = collected.flatten(1, 2), discount.flatten(1, 2)
        return learn_from(
            (advantage, returns, value),
            preferences,
            self.normalizer,
            self.scalarizers,
            self.forms,
            (min(1.0, self.steps / self.settings.total_steps), self.conflict),
            normalize_targets=self.ppo.normalize_targets,
            before=before,
            expected=None if self.collector.initial is None else self.expected_returns(preferences),
        )

    def expected_returns(self, preferences: Tensor) -> Tensor:
        """Return what the critics expect from the initial states under each preference, ``[R, N, m]``.

        Equal preferences are judged once.
        """
        if self.collector.initial is None:
            checks.fail("advantage", "keep initial states (at_expectation)", type(self.forms[0]).__name__)
        initial = self.collector.initial.observation
        result = []
        for run, own in enumerate(preferences):
            distinct, place = own.unique(dim=0, return_inverse=True)
            pairs = distinct.unsqueeze(1).expand(-1, initial.shape[1], -1).unsqueeze(0)
            observation = initial[run].expand(1, len(distinct), -1, -1)
            if self.scale is not None:
                observation = scaled(observation, self.scale.mean[run], self.scale.variance[run])
            inputs = torch.cat([observation, pairs], dim=-1).flatten(1, 2)
            values = self.drive.critic.values(self.critic.params[run : run + 1], inputs)
            result.append(values.reshape(len(distinct), -1, self.objectives).mean(1)[place])
        expected = torch.stack(result)
        return restore(self.normalizer, expected) if self.ppo.normalize_targets else expected

    def _values(self, inputs: Tensor) -> Tensor:
        """Return the critics' values ``[R, N, m]`` of inputs ``[R, E, T, n + m]``, run by run to stay in the cache."""
        pairs = zip(self.critic.params.split(1), inputs.flatten(1, 2).split(1), strict=True)
        return torch.cat([self.drive.critic.values(params, own) for params, own in pairs])

    def _data(self, rollout: Rollout, targets: Targets) -> Minibatch:
        """Return what the update learns from, all ``[R, N, ...]``."""
        action, output = rollout.action.flatten(1, 2), flatten(rollout.output, 1, 2)
        log_prob = self.drive.actor.ask(self.actor.params, "log_prob", output, action)
        inputs = rollout.inputs.flatten(1, 2)
        checks.returned(self.drive.actor.module, "log_prob", log_prob, inputs.shape[:-1])
        return Minibatch(inputs, action, log_prob, targets.advantage, targets.target, targets.attention)

    def _epochs(self, data: Minibatch, draws: Draws) -> Tensor:
        """Take all gradient steps; return the means of what ``RECORD`` names, ``[R, 4]``."""
        layout = columns(
            data,
            discrete=self.env.num_actions is not None,
            standardise=self.ppo.normalize_advantages == "minibatch",
        )
        packed, count, runs = layout.pack(data), len(draws.rows), len(self.runs)
        record = packed.new_zeros(runs, len(RECORD))
        paces = Pace.plan(self.learning_rate(), self.updates, count)
        hyper = Hyper(*(self.hyper[name] for name in Hyper._fields))
        for start in range(0, runs, self.chunk):
            part = slice(start, start + self.chunk)
            step = self._step(part, layout)
            own = (self.actor.runs(part), self.critic.runs(part), packed[part])
            rows = draws.rows[:, part]
            rows = rows + torch.arange(rows.shape[1], device=self.device).unsqueeze(-1) * packed.shape[1]
            noises = [None] * count if draws.combiner is None else draws.combiner[:, part].unbind(0)
            numbers, sums = hyper.runs(part), record[part]
            for batch, noise, pace in zip(rows.unbind(0), noises, paces, strict=True):
                step(*own, batch, noise, numbers, pace.runs(part), sums)
        self.updates += count
        return record / count

    def learning_rate(self) -> Tensor:
        """Return the runs' learning rates in this iteration, ``[R]``."""
        progress = min(1.0, self.steps / self.settings.total_steps)
        return self.hyper["learning_rate"] * (1 - self.hyper["learning_rate_decay"] * progress)

    def _step(self, part: slice, layout: Columns) -> Step:
        """Return the step of some of the runs; parts share one unless each run has its own combiner."""
        key = (0 if self.combine.batched else part.start, layout)
        if key not in self._steps:
            update = self.drive.update(self.combine.part(part), layout)
            choice = self.settings.compile
            self._steps[key] = Fused(update.step, self.device, choice) if self._fuse else update.step
        return self._steps[key]

    def _restore_dead(self, before: list[Tensor]) -> None:
        """Give stopped runs the state that they had before this iteration."""
        for tensor, old in zip(self._carried(), before, strict=True):
            mask = self.alive.reshape(-1, *[1] * (tensor.dim() - 1))
            tensor.copy_(torch.where(mask, tensor, old))

    def _carried(self) -> list[Tensor]:
        bounds = [self.normalizer.low, self.normalizer.high]
        return [*self.actor, *self.critic, *bounds, self.conflict, *self._statistics()]

    def _statistics(self) -> list[Tensor]:
        return [] if self.scale is None else [self.scale.mean, self.scale.variance, self.scale.count]
