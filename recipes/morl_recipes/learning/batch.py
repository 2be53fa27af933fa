"""A batch: R runs of one recipe structure, trained at once, each exactly as if it were alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from morl_blocks.critics import AttentionWeightedCritic
from morl_blocks.ppo import CategoricalActor, UnitBoxGaussianActor
from morl_envs.protocol import TensorEnv
from morl_recipes import _checks
from morl_recipes.envs import EnvSource
from morl_recipes.learning.blocks import PerRunCombiner, live_combiner, live_scalarizer, smoothness
from morl_recipes.learning.diagnostics import Iteration, diagnose, find_failures
from morl_recipes.learning.heads import CategoricalHead, GaussianHead, Head
from morl_recipes.learning.layout import initial
from morl_recipes.learning.networks import Actor, stacked_critic
from morl_recipes.learning.observations import ObservationScale
from morl_recipes.learning.rollout import Collector, Rollout, episode_returns
from morl_recipes.learning.runs import Run, check_batch, numbers
from morl_recipes.learning.targets import Bounds, Targets, estimate, learn_from
from morl_recipes.learning.update import BETA_1, BETA_2, RECORD, Columns, Numbers, Trainable, Update, fuse
from morl_recipes.specs import Scalarised
from morl_recipes.streams import Streams, derive

CHUNK = 8


class Draws(NamedTuple):
    """All random numbers of one iteration."""

    noise: Tensor
    rows: Tensor
    order: Tensor


class Batch:
    """R runs and everything that they carry from one iteration to the next.

    Args:
        runs: The runs; their recipes may differ in numbers alone.
        source: Where environments come from.
        total_steps: Environment steps of each run in the whole training; the smoothness schedule follows it.
        num_envs: Environments per run, E.
        device: Where tensors live.
        compile: Fuse the update with ``torch.compile``.
        chunk: Runs per update call; smaller parts fit the cache, and no run notices.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        source: EnvSource,
        *,
        total_steps: int,
        num_envs: int = 8,
        device: torch.device | str = "cpu",
        compile: bool = False,
        chunk: int = CHUNK,
    ) -> None:
        check_batch(runs)
        self.runs, self.source, self.device = list(runs), source, torch.device(device)
        self.ppo = runs[0].recipe.ppo
        _checks.at_least("total_steps", total_steps, 1)
        _checks.at_least("num_envs", num_envs, 1)
        _checks.at_least("chunk", chunk, 1)
        if self.ppo.steps_per_iteration % num_envs:
            _checks.fail("num_envs", f"divide steps_per_iteration ({self.ppo.steps_per_iteration})", num_envs)
        self.total_steps, self.num_envs = total_steps, num_envs
        self.numbers = {name: tensor.to(self.device) for name, tensor in numbers(runs).items()}
        self.env = self.open_env("environment", num_envs)
        self.objectives = len(self.env.objectives)
        for run in runs:
            _checks.preference(run.preference, self.objectives)
        self.preferences = torch.tensor([run.preference for run in runs], device=self.device)
        self._make_networks()
        self._make_blocks(compile=compile, chunk=chunk)
        self.collector = Collector(self.env, self.actor_net, self.head, self.preferences)
        normalized = source.normalize_observations
        self.scale = ObservationScale(len(runs), self.env.observation_dim, self.device) if normalized else None
        self.bounds = Bounds.empty(len(runs), self.objectives, self.device)
        self.conflict = torch.zeros(len(runs), device=self.device)
        self.carry = torch.zeros(len(runs), num_envs, self.objectives, device=self.device)
        self.alive = torch.ones(len(runs), dtype=torch.bool, device=self.device)
        self.iteration = 0

    @property
    def steps(self) -> int:
        """Environment steps that each run has collected."""
        return self.iteration * self.ppo.steps_per_iteration

    @property
    def mu(self) -> Tensor:
        """Smoothness of each run, ``[R]``; NaN for scalarizers that have none."""
        mu = smoothness(self.scalarizer, self.scheduler)
        return mu.to(self.conflict).expand_as(self.conflict)

    def policies(self) -> list[Tensor]:
        """Return what a policy consists of: parameters ``[R, P]`` and observation statistics, when there are any."""
        scale = [] if self.scale is None else [self.scale.mean, self.scale.variance]
        return [self.actor.params, *scale]

    def open_env(self, stream: str, count: int) -> TensorEnv:
        """Open ``count`` environments per run, each with a seed derived from its run's seed."""
        seeds = [derive(run.seed, stream, index) for run in self.runs for index in range(count)]
        return self.source.make(len(seeds), seeds)

    @torch.no_grad()
    def iterate(self) -> Iteration:
        """Train for one iteration: collect, estimate, weigh, update. Returns what happened, run by run."""
        before = self._snapshot()
        draws = self._draw()
        rollout = self.collector.collect(self.actor.params, draws.noise, self.scale)
        targets = self._targets(rollout)
        data = self._pack(rollout, targets)
        record = self._epochs(data, draws)
        self.conflict = record[:, 0].nan_to_num(0.0)
        if self.scale is not None:
            self.scale.update(rollout.next_observation)
        episodes, self.carry = episode_returns(rollout.reward, rollout.done, self.carry)
        self.iteration += 1
        numbers = diagnose(self.update, self.actor.params, data, targets, self.numbers["clip"])
        numbers = {"mu": self.mu, **dict(zip(RECORD, record.unbind(-1), strict=True)), **numbers, "episode": episodes}
        failed = find_failures(rollout, targets, record, (self.actor.params, self.critic.params))
        failed = {run: cause for run, cause in failed.items() if self.alive[run]}
        for run in failed:
            self.alive[run] = False
        self._restore_dead(before)
        return Iteration(self.iteration, self.steps, numbers, failed)

    def _make_networks(self) -> None:
        env, n, m = self.env, self.env.observation_dim, self.objectives
        hidden, recipe = self.ppo.hidden, self.runs[0].recipe
        make: Callable[[], UnitBoxGaussianActor | CategoricalActor]
        self.head: Head
        if env.num_actions is not None:
            choices = env.num_actions
            make = lambda: CategoricalActor(n, m, choices, hidden)  # noqa: E731
            self.head = CategoricalHead(choices)
        elif env.action_low is not None and env.action_high is not None:
            make = lambda: UnitBoxGaussianActor(n, m, env.action_dim, hidden)  # noqa: E731
            self.head = GaussianHead(env.action_low.to(self.device), env.action_high.to(self.device))
        else:
            _checks.fail("env", "have discrete actions or action bounds", type(env).__name__)
        seeds = [derive(run.seed, "actor") for run in self.runs]
        self.actor_module, actor = initial(make, seeds)
        self.critic_module, critic = initial(
            lambda: recipe.critic.build(n, m), [derive(run.seed, "critic") for run in self.runs]
        )
        self.actor_net = Actor(self.actor_module)  # type: ignore[arg-type]
        self.critic_net = stacked_critic(self.critic_module, m)
        self.actor, self.critic = (_trainable(flat.to(self.device)) for flat in (actor, critic))
        self.updates = 0

    def _make_blocks(self, *, compile: bool, chunk: int) -> None:
        recipes, seeds = [run.recipe for run in self.runs], [run.seed for run in self.runs]
        self.chunk = math.ceil(len(recipes) / math.ceil(len(recipes) / chunk))  # equal parts compile once
        self.streams = {name: Streams(seeds, name) for name in ("learning", "combiner", "evaluation")}
        self.scalarizer, self.scheduler = live_scalarizer(recipes)
        self.scalarizer.to(self.device)
        self.combiner = live_combiner(recipes, self.streams["combiner"].generators)
        m, q = self.objectives, 1 if isinstance(recipes[0].advantage, Scalarised) else self.objectives
        self.columns = Columns(self.env.observation_dim + m, self.head.action_columns, 1, q, m, m)
        self.update = self._make_update(self.combiner)
        self.compiled = None
        if compile and not isinstance(self.combiner, PerRunCombiner):
            self.compiled = fuse(self.update.step, self.device)

    def _make_update(self, weights: Any) -> Update:
        weighted = isinstance(self.critic_module, AttentionWeightedCritic)
        return Update(self.actor_net, self.head, self.critic_net, weights, self.columns, weighted_critic=weighted)

    def _draw(self) -> Draws:
        """Draw the iteration's random numbers: a few calls per run, none per step."""
        ppo, learning, m = self.ppo, self.streams["learning"], self.objectives
        shape = (ppo.steps_per_iteration // self.num_envs, self.num_envs, self.head.noise_columns)
        noise = learning.uniform(*shape) if self.head.uniform_noise else learning.normal(*shape)
        rows = learning.permutations(ppo.epochs, ppo.steps_per_iteration)
        batches = rows.reshape(len(self.runs), -1, ppo.minibatch_size).transpose(0, 1)
        order = learning.uniform(len(batches), m, m).argsort(-1).transpose(0, 1)
        return Draws(*(tensor.contiguous().to(self.device) for tensor in (noise, batches, order)))

    def _targets(self, rollout: Rollout) -> Targets:
        value, next_value = self._values(rollout.inputs), self._values(rollout.next_inputs)
        if self.ppo.normalize_targets:
            value, next_value = self.bounds.restore(value), self.bounds.restore(next_value)
        advantage, returns = estimate(rollout, value, next_value, self.numbers["gamma"], self.numbers["gae_lambda"])
        if self.scheduler is not None:
            progress = min(1.0, self.steps / self.total_steps)
            self.scheduler.step(progress, self.conflict)  # type: ignore[operator]
        targets, self.bounds = learn_from(
            advantage,
            returns,
            value,
            self.bounds,
            self.scalarizer,
            self.preferences,
            scalarised=isinstance(self.runs[0].recipe.advantage, Scalarised),
            normalize_targets=self.ppo.normalize_targets,
        )
        return targets

    def _values(self, inputs: Tensor) -> Tensor:
        """Return the critics' values ``[R, N, m]`` of inputs ``[R, E, T, n + m]``, run by run to stay in the cache."""
        pairs = zip(self.critic.params.split(1), inputs.flatten(1, 2).split(1), strict=True)
        return torch.cat([self.critic_net.values(params, own) for params, own in pairs])

    def _pack(self, rollout: Rollout, targets: Targets) -> Tensor:
        """Return the rollout as one tensor ``[R, N, D]``, so that a minibatch is one gather."""
        params = self.actor_net.layout.views(self.actor.params)
        action = rollout.action.flatten(1, 2)
        log_prob = self.head.log_prob(rollout.raw.flatten(1, 2), params, action).unsqueeze(-1)
        inputs = rollout.inputs.flatten(1, 2)
        return torch.cat([inputs, action, log_prob, targets.advantage, targets.target, targets.attention], dim=-1)

    def _epochs(self, data: Tensor, draws: Draws) -> Tensor:
        """Take all gradient steps; return the means of what ``RECORD`` names, ``[R, 4]``."""
        count = len(draws.rows)
        times = torch.arange(self.updates + 1, self.updates + count + 1, device=self.device, dtype=torch.float64)
        rates = self.numbers["learning_rate"].double() / (1 - BETA_1**times).unsqueeze(-1)
        step_sizes, corrections = rates.float().unsqueeze(-1), (1 - BETA_2**times).sqrt().float()
        record = data.new_zeros(len(self.runs), len(RECORD))
        for start in range(0, len(self.runs), self.chunk):
            part = slice(start, start + self.chunk)
            step = self._step(part)
            actor, critic, own = self.actor.runs(part), self.critic.runs(part), self._numbers(part)
            rows = draws.rows[:, part]
            rows = rows + torch.arange(rows.shape[1], device=self.device).unsqueeze(-1) * data.shape[1]
            steps = (rows, draws.order[:, part], step_sizes[:, part], corrections)
            packed, sums = data[part], record[part]
            for batch, order, size, correction in zip(*(column.unbind(0) for column in steps), strict=True):
                step(actor, critic, packed, batch, order, own, size, correction, sums)
        self.updates += count
        return record / count

    def _step(self, part: slice) -> Callable[..., None]:
        if self.compiled is not None:
            return self.compiled
        if isinstance(self.combiner, PerRunCombiner):
            return self._make_update(self.combiner.part(part)).step
        return self.update.step

    def _numbers(self, part: slice) -> Numbers:
        return Numbers(*(self.numbers[name][part] for name in Numbers._fields))

    def _snapshot(self) -> list[Tensor]:
        return [tensor.clone() for tensor in self._carried()]

    def _restore_dead(self, before: list[Tensor]) -> None:
        """Give stopped runs the state that they had before this iteration."""
        for tensor, old in zip(self._carried(), before, strict=True):
            mask = self.alive.reshape(-1, *[1] * (tensor.dim() - 1))
            tensor.copy_(torch.where(mask, tensor, old))

    def _carried(self) -> list[Tensor]:
        scale = [] if self.scale is None else [self.scale.mean, self.scale.variance, self.scale.count]
        return [*self.actor, *self.critic, *self.bounds, self.conflict, *scale]


def _trainable(flat: Tensor) -> Trainable:
    return Trainable(flat.clone(), torch.zeros_like(flat), torch.zeros_like(flat))
