"""The network of stored policies: its actor as data, and the sizes that are needed to build it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from morl_blocks.ppo import Actor
from morl_envs.protocol import TensorEnv
from morl_recipes.common import checks
from morl_recipes.recipe import specs
from morl_recipes.recipe.recipe import Recipe, fields_of
from morl_recipes.recipe.spec import KINDS, AnySpec, Live, Spec
from morl_recipes.recipe.specs import Choices


@dataclass(frozen=True)
class Network:
    """The specification of a policy's network, without its parameters. An unknown actor is kept as in its file."""

    actor: AnySpec | Mapping[str, Any]
    observation_dim: int
    actions: int

    @classmethod
    def of(cls, actor: AnySpec | Mapping[str, Any], env: TensorEnv) -> Network:
        """Return the network of an actor on an environment."""
        return cls(actor, env.observation_dim, Choices.of(env))

    @property
    def known(self) -> bool:
        """Whether it can be built in this process."""
        return isinstance(self.actor, Spec | Live)

    def build(self, num_objectives: int) -> Actor:
        """Return the actor, with uninitialised parameters."""
        known = require_known(self.actor)
        # A file may contain any size, so our own actors allocate nothing. A user's actor may hold more than parameters.
        ours = isinstance(known, Spec) and known.kind is specs.Actor
        with torch.device("meta") if ours else torch.random.fork_rng(devices=[]):
            actor: Actor = known.build(self.observation_dim, num_objectives, self.actions)
        return actor

    def to_dict(self) -> dict[str, Any]:
        """Return the network as JSON; an actor that no file can describe is stored as its text."""
        sizes = {"observation_dim": self.observation_dim, "actions": int(self.actions)}
        return {"actor": describe_actor(self.actor), **sizes, "discrete": isinstance(self.actions, Choices)}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Network:
        """Read the output of :meth:`to_dict`; an unknown actor raises no error before it is built."""
        actions = Choices(fields["actions"]) if fields["discrete"] else int(fields["actions"])
        return cls(read_actor(fields["actor"]), int(fields["observation_dim"]), actions)

    @classmethod
    def of_shapes(cls, tensors: Mapping[str, Tensor], num_objectives: int) -> Network:
        """Return the paper's network with the size of the parameters, for files that do not name their actor."""
        hidden, inputs = tensors["trunk.0.weight"].shape
        discrete = "logits.bias" in tensors
        actions = len(tensors["logits.bias" if discrete else "mean.bias"])
        return cls(specs.Actor(hidden=hidden), inputs - num_objectives, Choices(actions) if discrete else actions)


def describe_actor(actor: AnySpec | Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an actor as JSON from which it can be rebuilt, or else its text."""
    if not isinstance(actor, Spec | Live):
        return actor
    with suppress(ValueError, TypeError):
        fields: dict[str, Any] = json.loads(json.dumps(fields_of("actor", actor)))
        if read_actor(fields) == actor:
            return fields
    return {"text": f"a live {type(actor.module).__name__}" if isinstance(actor, Live) else repr(actor)}


def read_actor(fields: Any) -> AnySpec | Mapping[str, Any]:
    """Read the output of :func:`describe_actor`; an unknown actor is kept as it is."""
    if not isinstance(fields, Mapping) or not fields.keys() & {"type", "text"}:
        raise ValueError("the actor has no name")
    return Recipe.from_dict({"actor": fields}).actor if fields.get("type") in KINDS else fields


def require_known(actor: AnySpec | Mapping[str, Any]) -> AnySpec:
    """Return an actor that can be built in this process."""
    if not isinstance(actor, Spec | Live):
        if "type" not in actor:
            checks.fail("actor", "be a spec to be played from a file, such as spec(MyActor)()", actor["text"])
        how = "--blocks FILE; in Python, import the file that defines it, and load it again"
        checks.fail("actor", f"be known to play its policy ({how})", actor["type"])
    return actor
