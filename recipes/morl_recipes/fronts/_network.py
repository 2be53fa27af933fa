"""The network behind a front's policies: its actor as data, and the sizes with which it is built."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from morl_blocks.ppo import Actor
from morl_envs.protocol import TensorEnv
from morl_recipes import _checks, specs
from morl_recipes.recipe import Recipe, plain_fields
from morl_recipes.spec import KINDS, AnySpec, Live, Spec
from morl_recipes.specs import Choices


@dataclass(frozen=True)
class Network:
    """What every policy of a front is built from; parameters are kept apart.

    Attributes:
        actor: The actor. Of a file that names one that is not known here, what the file says about it.
        observation_dim: Numbers in an observation.
        actions: Numbers in an action, or their number as ``Choices``.
    """

    actor: AnySpec | Mapping[str, Any]
    observation_dim: int
    actions: int

    @classmethod
    def of(cls, recipe: Recipe, env: TensorEnv) -> Network:
        """Return the network of a recipe on an environment."""
        actions = env.action_dim if env.num_actions is None else Choices(env.num_actions)
        return cls(recipe.actor, env.observation_dim, actions)

    @property
    def known(self) -> bool:
        """Whether it can be built here."""
        return isinstance(self.actor, Spec | Live)

    def build(self, num_objectives: int) -> Actor:
        """Return the actor, with parameters of no meaning."""
        if not isinstance(self.actor, Spec | Live):
            if "type" in self.actor:
                rule = "be known to play a policy of this front (import the file that defines it, and load it again)"
                _checks.fail("actor", rule, self.actor["type"])
            _checks.fail("actor", "be a spec to be played from a file, such as spec(MyActor)()", self.actor["text"])
        # A file may name any size: nothing is allocated for our own.
        with torch.device("meta") if is_plain(self.actor) else torch.random.fork_rng(devices=[]):
            actor: Actor = self.actor.build(self.observation_dim, num_objectives, self.actions)
        kept = {name for name, _ in actor.named_parameters()}
        if lost := sorted(actor.state_dict().keys() - kept):
            _checks.fail(
                "actor", "keep its numbers in parameters, for a policy holds nothing else", f"buffer {lost[0]}"
            )
        return actor

    def to_dict(self) -> dict[str, Any]:
        """Return plain words and numbers; an actor that no file can describe is its text alone."""
        sizes = {"observation_dim": self.observation_dim, "actions": int(self.actions)}
        return {"actor": _described(self.actor), **sizes, "discrete": isinstance(self.actions, Choices)}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Network:
        """Read what :meth:`to_dict` wrote; an actor that is not known here is no error before it is built."""
        actor = fields["actor"]
        if not isinstance(actor, Mapping) or not actor.keys() & {"type", "text"}:
            raise ValueError("the actor has no name")
        actions = Choices(fields["actions"]) if fields["discrete"] else int(fields["actions"])
        known = actor.get("type") in KINDS
        return cls(
            Recipe.from_dict({"actor": actor}).actor if known else actor, int(fields["observation_dim"]), actions
        )

    @classmethod
    def of_shapes(cls, tensors: Mapping[str, Tensor], num_objectives: int) -> Network:
        """Return the paper's network of the size that parameters tell, for files that do not name their actor."""
        hidden, inputs = tensors["trunk.0.weight"].shape
        discrete = "action_low" not in tensors
        actions = len(tensors["logits.bias" if discrete else "mean.bias"])
        return cls(specs.Actor(hidden=hidden), inputs - num_objectives, Choices(actions) if discrete else actions)


def is_plain(actor: object) -> bool:
    """Tell whether an actor is the one of this package."""
    return isinstance(actor, Spec) and actor.kind is specs.Actor


def _described(actor: AnySpec | Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an actor as JSON that makes the same one again, or else its text."""
    if not isinstance(actor, Spec | Live):
        return actor
    try:
        plain: dict[str, Any] = json.loads(json.dumps(plain_fields("actor", actor)))
        if Recipe.from_dict({"actor": plain}).actor == actor:
            return plain
    except (ValueError, TypeError):
        pass
    return {"text": f"a live {type(actor.module).__name__}" if isinstance(actor, Live) else repr(actor)}
