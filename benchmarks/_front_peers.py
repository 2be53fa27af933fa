"""morl-baselines' contenders for a front, as they come, driven by the environment that they step.

They run with the defaults of their constructors and without logging. What differs is named in ``CHANGES``: numbers that
presuppose millions of steps, so that a default would leave most of a population untrained in the time given here.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import gymnasium
import mo_gymnasium  # noqa: F401 - registers its environments
import numpy as np
import torch
from torch import Tensor

from benchmarks._front_tasks import FrontTask, Policy, Race, played
from morl_envs import CARDS
from morl_recipes.common.seeds import derive
from morl_recipes.evaluation.episodes import FRONT

CHANGES = {
    "GPI-LS": "1 gradient update per step (default 20), 1,000 steps per weight (10,000), 1 episode per evaluation (5)",
    "MORL/D": "1,000 steps per policy in turn (40,000), own evaluations of 10 steps; discrete: learns from step 500",
    "PCN": "returns scaled by the bounds of our cards; its points are those of 10 returns that it is told to reach",
    "PGMORL": "own evaluations cut to 10 steps; played with the observation scale of its first environment",
}
EXCHANGE, FOREVER, GLANCE = 1_000, 10**9, 10
FEW = 10
"""Weights of an evaluation that they make only when they log; spreading 100 of them takes seconds."""


class TimeUpError(Exception):
    """Raised by the environment, from within a training that knows no clock."""


class Clocked(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Tell the race of every step."""

    def __init__(self, env: Any, race: Race) -> None:
        super().__init__(env)
        self.race = race

    def step(self, action: Any) -> Any:
        """Step, and stop the training when the race is over."""
        outcome = self.env.step(action)
        if self.race.tick(1):
            raise TimeUpError
        return outcome


def unable(contender: str, task: FrontTask) -> str | None:
    """Return why a contender cannot do a task; ``None`` if it can."""
    discrete = CARDS[task.env].num_actions is not None
    return "continuous actions only" if discrete and contender in ("CAPQL", "PGMORL") else None


def race_peer(contender: str, task: FrontTask, seed: int, seconds: float) -> Race:
    """Train a contender until its time is up."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - what morl-baselines and the mine cart draw from
    torch.manual_seed(seed)
    race = Race(task, seconds, list)
    with _elsewhere(), contextlib.suppress(TimeUpError):
        PEERS[contender](race, seed)
    return race


@contextlib.contextmanager
def _elsewhere() -> Iterator[None]:
    """Work in a folder of its own, for they write into the current one, and swallow what they print."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)


def _make(task: FrontTask, **options: Any) -> Any:
    return gymnasium.make(task.env, disable_env_checker=True, **options)


def _env(race: Race, seed: int) -> Any:
    env = Clocked(_make(race.task), race)
    env.reset(seed=seed)
    env.action_space.seed(seed)
    return env


def _asked(race: Race, policy: Policy, seed: int) -> Callable[[], Any]:
    """Return the points of a policy that takes a preference."""
    return lambda: played(policy, race.task.preferences(race.task.asked), race.task, seed)


def _each(race: Race, policies: Callable[[], list[Callable[[Tensor], Tensor]]], seed: int) -> Callable[[], Any]:
    """Return the points of policies that take none: one each."""
    uniform = torch.full((1, len(race.task.reference)), 1 / len(race.task.reference))

    def points() -> Any:
        return [played(partial(_ignoring, own), uniform, race.task, seed)[0] for own in policies()]

    return points


def _ignoring(policy: Callable[[Tensor], Tensor], observation: Tensor, _: Tensor) -> Tensor:
    """Act without the preference."""
    return policy(observation)


def _capql(race: Race, seed: int) -> None:
    from morl_baselines.multi_policy.capql.capql import CAPQL

    agent = CAPQL(_env(race, seed), gamma=race.task.training_gamma, log=False, seed=seed, device="cpu")
    race.points = _asked(race, agent.policy.get_action, seed)
    evaluation = _make(race.task)
    agent.train(FOREVER, evaluation, np.array(race.task.reference), num_eval_weights_for_front=FEW)


def _gpi_ls(race: Race, seed: int) -> None:
    from morl_baselines.multi_policy.gpi_pd.gpi_pd import GPILS
    from morl_baselines.multi_policy.gpi_pd.gpi_pd_continuous_action import GPILSContinuousAction

    discrete = CARDS[race.task.env].num_actions is not None
    common: dict[str, Any] = {"gamma": race.task.training_gamma, "log": False, "seed": seed, "device": "cpu"}
    agent = (GPILS if discrete else GPILSContinuousAction)(_env(race, seed), gradient_updates=1, **common)
    race.points = _asked(race, _generalised(agent) if discrete else agent.policy, seed)
    agent.train(
        FOREVER,
        _make(race.task),
        np.array(race.task.reference),
        timesteps_per_iter=EXCHANGE,
        num_eval_weights_for_front=FEW,
        num_eval_episodes_for_front=1,
        checkpoints=False,
    )


def _generalised(agent: Any) -> Policy:
    """Return what ``agent.eval`` does for one observation, for many: the best action of any known policy."""

    def act(observation: Tensor, weights: Tensor) -> Tensor:
        for net in agent.q_nets:
            net.eval()
        known = torch.stack(agent.weight_support)
        values = torch.stack(
            [agent.q_nets[0](observation, own.expand(len(observation), -1)) for own in known], dim=1
        )  # [N, known, actions, m]
        best: Tensor = torch.einsum("nr,nkar->nka", weights, values).amax(1).argmax(-1)
        for net in agent.q_nets:
            net.train()
        return best

    return act


def _morl_d(race: Race, seed: int) -> None:
    from morl_baselines.multi_policy.morld.morld import MORLD

    discrete = CARDS[race.task.env].num_actions is not None
    agent = MORLD(
        _env(race, seed),
        policy_name="MOSACDiscrete" if discrete else "MOSAC",
        policy_args={"learning_starts": 500} if discrete else {},
        gamma=race.task.training_gamma,
        exchange_every=EXCHANGE,
        seed=seed,
        log=False,
        device="cpu",
    )

    def policies() -> list[Callable[[Tensor], Tensor]]:
        actors = [one.wrapped.actor for one in agent.population]
        return [partial(_most_likely if discrete else _mean, actor) for actor in actors]

    race.points = _each(race, policies, seed)
    evaluation = _make(race.task, max_episode_steps=GLANCE)
    agent.train(FOREVER, evaluation, np.array(race.task.reference), num_eval_episodes_for_front=1, checkpoints=False)


def _most_likely(actor: Any, observation: Tensor) -> Tensor:
    best: Tensor = actor(observation).argmax(-1)
    return best


def _mean(actor: Any, observation: Tensor) -> Tensor:
    mean: Tensor = actor.get_action(observation)[2]
    return mean


def _pgmorl(race: Race, seed: int) -> None:
    from morl_baselines.multi_policy.pgmorl import pgmorl

    theirs = pgmorl.make_env

    def make_env(*args: Any) -> Callable[[], Any]:
        return lambda: Clocked(theirs(*args)(), race)

    reference = np.array(race.task.reference)
    with mock.patch.object(pgmorl, "make_env", make_env):
        agent = pgmorl.PGMORL(
            race.task.env, reference, gamma=race.task.training_gamma, seed=seed, log=False, device="cpu"
        )

    def policies() -> list[Callable[[Tensor], Tensor]]:
        scale = _scale(agent.env.envs[0])
        nets = [one.networks for one in agent.agents]
        return [partial(_scaled, net, scale) for net in nets]

    race.points = _each(race, policies, seed)
    evaluation = gymnasium.wrappers.TimeLimit(theirs(race.task.env, seed, 1, "evaluation", agent.gamma)(), GLANCE)
    agent.train(FOREVER, evaluation, reference)


def _scaled(net: Any, scale: Callable[[Tensor], Tensor], observation: Tensor) -> Tensor:
    mean: Tensor = net.actor_mean(scale(observation))
    return mean


def _scale(env: Any) -> Callable[[Tensor], Tensor]:
    """Return how an environment scales its observations."""
    while not isinstance(env, gymnasium.wrappers.NormalizeObservation):
        env = env.env
    mean, spread = env.obs_rms.mean, np.sqrt(env.obs_rms.var + env.epsilon)
    return lambda x: ((x - torch.tensor(mean)) / torch.tensor(spread)).clamp(-10, 10).float()


def _pcn(race: Race, seed: int) -> None:
    from morl_baselines.multi_policy.pcn.pcn import PCN

    card, task = CARDS[race.task.env], race.task
    spread = np.array(card.hv_high) - np.array(card.hv_low)
    scaling, highest = np.array([*(1 / spread), 1 / card.horizon]), np.array(card.hv_high, np.float32)
    env = _env(race, seed)
    agent = PCN(env, scaling, gamma=task.gamma, seed=seed, log=False, device="cpu")
    evaluation = _make(task)

    def points() -> Any:
        stored = agent.experience_replay
        chosen = agent._nlargest(min(10, len(stored))) if stored else []
        return [reached(episode[2][0].reward, len(episode[2])) for episode in chosen] or [list(task.reference)]

    def reached(wanted: Any, horizon: int) -> Any:
        total = np.zeros(len(task.reference))
        for index in range(task.episodes):
            evaluation.reset(seed=derive(seed, FRONT, index) % 2**31)
            steps = agent._run_episode(evaluation, np.float32(wanted), np.float32(horizon), highest, eval_mode=True)
            total += sum(task.gamma**t * step.reward for t, step in enumerate(steps))
        return total / task.episodes

    race.points = points
    agent.train(FOREVER, evaluation, np.array(task.reference), max_return=highest)


def preload() -> None:
    """Import what the contenders need, which is not to count as training."""
    modules = ("capql.capql", "gpi_pd.gpi_pd", "gpi_pd.gpi_pd_continuous_action", "morld.morld", "pcn.pcn")
    for name in (*modules, "pgmorl.pgmorl"):
        importlib.import_module(f"morl_baselines.multi_policy.{name}")


PEERS: dict[str, Callable[[Race, int], None]] = {
    "CAPQL": _capql,
    "GPI-LS": _gpi_ls,
    "PGMORL": _pgmorl,
    "PCN": _pcn,
    "MORL/D": _morl_d,
}
