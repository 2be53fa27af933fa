"""The networks of R runs: created from each run's own seed, stacked, in the fastest form that supports them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch
from torch import Tensor, nn

from morl_blocks.ppo import Actor
from morl_envs.protocol import TensorEnv
from morl_recipes.common import checks
from morl_recipes.common.seeds import derive
from morl_recipes.learning import fast
from morl_recipes.learning.blocks import Combine
from morl_recipes.learning.lift import LiftedActor, LiftedCritic, StackedActor, StackedCritic, initial
from morl_recipes.learning.update import Update
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.recipe.run import Run
from morl_recipes.recipe.specs import Choices

Kind = Literal["auto", "generic", "fast"]


@dataclass(frozen=True)
class Networks:
    """Actor and critic of one run as templates, and the parameters of all runs, ``[R, P]`` each."""

    actor: Actor
    critic: nn.Module
    actor_params: Tensor
    critic_params: Tensor


def build_actor(recipe: Recipe, env: TensorEnv) -> Actor:
    """Make the actor of a recipe for an environment."""
    actor: Actor = recipe.actor.build(env.observation_dim, len(env.objectives), Choices.of(env))
    return actor


def make_networks(runs: Sequence[Run], env: TensorEnv) -> Networks:
    """Create every run's networks from its own seed."""
    recipe, n, m = runs[0].recipe, env.observation_dim, len(env.objectives)
    if env.num_actions is None and (env.action_low is None or env.action_high is None):
        checks.fail("env", "have discrete actions or action bounds", type(env).__name__)
    seeds = {name: [derive(run.seed, name) for run in runs] for name in ("actor", "critic")}
    make_actor, make_critic = partial(build_actor, recipe, env), partial(recipe.critic.build, n, m)
    actor, actor_params = initial(make_actor, seeds["actor"])
    critic, critic_params = initial(make_critic, seeds["critic"])
    if not isinstance(actor, Actor):
        checks.fail("actor", "be an Actor of morl_blocks.ppo", type(actor).__name__)
    require_parameters("actor", actor, make_actor)
    require_parameters("critic", critic, make_critic)
    return Networks(actor, critic, actor_params, critic_params)


def require_parameters(slot: str, network: nn.Module, make: Callable[[], nn.Module]) -> None:
    """Require that all state of a run is in parameters, because buffers are shared by all runs and never saved."""
    buffers = dict(network.named_buffers())
    if not buffers:
        return
    other, saved = dict(initial(make, [0])[0].named_buffers()), network.state_dict()
    for name, buffer in buffers.items():
        if name in saved or not torch.equal(buffer, other[name]):
            rule = (
                "keep what is not trained as nn.Parameter(..., requires_grad=False), or if it is the same for all seeds"
            )
            what = "buffer" if name in saved else "random buffer"
            checks.fail(slot, f"{rule} by register_buffer(..., persistent=False)", f"the {what} {name!r}")


class Learner:
    """The networks and the update of a batch: in the fast form if it supports all blocks, else in the generic one."""

    actor: StackedActor
    critic: StackedCritic

    def __init__(self, recipe: Recipe, networks: Networks, objectives: int, kind: Kind) -> None:
        self.loss = recipe.loss.build()
        self.penalty = None if recipe.penalty is None else recipe.penalty.build()
        reason = fast.unknown_block(networks.actor, networks.critic, self.loss)
        if self.penalty is not None:  # the fast form has no derivative of a penalty
            reason = type(self.penalty).__name__
        if kind == "fast" and reason is not None:
            checks.fail("update", "be 'auto' or 'generic' for these blocks", f"'fast', which does not know {reason}")
        self.fast = kind != "generic" and reason is None
        if self.fast:
            self.actor, self.critic = fast.FastActor(networks.actor), fast.fast_critic(networks.critic)
        else:
            self.actor = LiftedActor(networks.actor, objectives)
            self.critic = LiftedCritic(networks.critic, objectives)

    def update(self, combine: Combine) -> Update:
        """Return the update with these networks."""
        form: Callable[..., Update] = fast.FastUpdate if self.fast else partial(Update, penalty=self.penalty)
        return form(self.actor, self.critic, self.loss, combine)
