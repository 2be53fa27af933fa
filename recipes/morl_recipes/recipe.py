"""A recipe: which block fills each slot of the training loop, as frozen data that reads like the paper."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from morl_recipes._checks import at_least, between, fail, number, positive
from morl_recipes.naming import unknown
from morl_recipes.spec import SPECS, Live, Spec, as_spec, require_slot, structure
from morl_recipes.specs import AdaptiveSmoothTchebycheff, AttentionWeighted, ConflictBraked, PCGrad, Scalarised, Vector

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class PPO:
    """The numbers of PPO. Runs of one population may differ in the floats.

    Args:
        learning_rate: Step size of both Adam optimisers.
        steps_per_iteration: Environment steps that a run collects before each update.
        epochs: Passes over the collected steps.
        minibatch_size: Steps per gradient.
        clip: Clip range of the probability ratio.
        value_coefficient: Factor of the critic's loss (it matters through the gradient clip alone).
        entropy_coefficient: Factor of the entropy bonus, added once, after the gradients are combined.
        gamma: Discount.
        gae_lambda: Trace decay of the advantage estimate.
        max_gradient_norm: Largest norm of the actor's and of the critic's gradient.
        hidden: Width of the actor's layers.
        normalize_targets: Let the critic predict returns normalised to [0, 1] instead of raw ones.
    """

    learning_rate: float = 3e-4
    steps_per_iteration: int = 2048
    epochs: int = 10
    minibatch_size: int = 64
    clip: float = 0.2
    value_coefficient: float = 0.5
    entropy_coefficient: float = 0.01
    gamma: float = 0.99
    gae_lambda: float = 0.95
    max_gradient_norm: float = 0.5
    hidden: int = 64
    normalize_targets: bool = False

    def __post_init__(self) -> None:
        """Check every number, and turn it into a plain float or whole number."""
        checked: dict[str, float] = {}
        for name in ("learning_rate", "clip", "max_gradient_norm"):
            checked[name] = positive(name, getattr(self, name))
        for name in ("value_coefficient", "entropy_coefficient"):
            checked[name] = between(name, getattr(self, name), 0.0, float("inf"))
        for name in ("gamma", "gae_lambda"):
            checked[name] = between(name, getattr(self, name), 0.0, 1.0)
        for name in ("steps_per_iteration", "epochs", "minibatch_size", "hidden"):
            checked[name] = at_least(name, getattr(self, name), 1)
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.steps_per_iteration % self.minibatch_size:
            rule = f"divide steps_per_iteration ({self.steps_per_iteration})"
            raise ValueError(f"`minibatch_size` must {rule}, got {self.minibatch_size}.")

    @classmethod
    def from_dict(cls, data: object) -> PPO:
        """Read the numbers that a file changes; unknown names and other kinds of values raise ``ValueError``."""
        if not isinstance(data, Mapping):
            fail("ppo", "be a table of numbers", repr(data))
        kinds = {f.name: type(f.default) for f in fields(cls)}
        for name, value in data.items():
            if name not in kinds:
                raise unknown("number of [ppo]", name, kinds)
            if kinds[name] is bool and not isinstance(value, bool):
                fail(name, "be true or false", repr(value))
            if kinds[name] is not bool:
                number(name, value)
        return cls(**data)


@dataclass(frozen=True)
class Recipe:
    """What a training run is made of. The defaults are PASTA; a variant is one ``dataclasses.replace``.

    Args:
        scalarizer: From normalised returns to a utility and an attention over the objectives.
        mu: Where the smoothness comes from; ``None`` for scalarizers that have none.
        advantage: ``Vector()`` keeps one advantage per objective, ``Scalarised()`` makes one of the utility.
        combiner: From one gradient per objective to one update; without effect on a scalarised advantage.
        critic: The value network, alone (every objective weighs the same) or in ``AttentionWeighted``.
        ppo: The numbers of PPO.

    Example:
        >>> from dataclasses import replace
        >>> from morl_recipes.specs import Fixed
        >>> fixed = replace(Recipe(), mu=Fixed(0.5))
        >>> Recipe.from_json(fixed.to_json()) == fixed
        True
    """

    scalarizer: Spec = field(default_factory=AdaptiveSmoothTchebycheff)
    mu: Spec | None = field(default_factory=ConflictBraked)
    advantage: Spec = field(default_factory=Vector)
    combiner: Spec = field(default_factory=PCGrad)
    critic: Spec = field(default_factory=AttentionWeighted)
    ppo: PPO = field(default_factory=PPO)

    def __post_init__(self) -> None:
        """Wrap live modules, and refuse anything that is neither a spec nor a module."""
        for name in SLOTS:
            value = as_spec(getattr(self, name))
            object.__setattr__(self, name, value)
            if not (name == "mu" and value is None):
                require_slot(name, value, name)
        if not isinstance(self.advantage, Vector | Scalarised):
            raise ValueError(f"`advantage` must be Vector() or Scalarised(), got {self.advantage!r}.")
        if not isinstance(self.ppo, PPO):
            raise ValueError(f"`ppo` must be a PPO, got {self.ppo!r}.")

    def structure(self) -> object:
        """Return a hashable key: recipes with the same key differ in numbers alone and can share a population."""
        numbers = tuple((f.name, structure(getattr(self.ppo, f.name))) for f in fields(PPO))
        return (*((name, structure(getattr(self, name))) for name in SLOTS), numbers)

    def differences(self, other: Recipe) -> tuple[str, ...]:
        """Name the slots in which two recipes differ."""
        return tuple(f.name for f in fields(Recipe) if getattr(self, f.name) != getattr(other, f.name))

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, strings and numbers (no smoothness is the word ``"none"``: TOML has no null)."""
        return {f.name: _plain(f.name, getattr(self, f.name)) for f in fields(Recipe)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Recipe:
        """Read what :meth:`to_dict` wrote; slots that are left out are those of PASTA."""
        for name in data:
            if name not in (*SLOTS, "ppo"):
                raise ValueError(f"`recipe` must have the slots {', '.join((*SLOTS, 'ppo'))}, got {name!r}.")
        slots = {name: _spec(name, data[name]) for name in SLOTS if name in data}
        return cls(**slots, ppo=PPO.from_dict(data.get("ppo", {})))

    def to_json(self) -> str:
        """Return one line of JSON."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """Read what :meth:`to_json` wrote."""
        return cls.from_dict(json.loads(text))

    def to_toml(self) -> str:
        """Return TOML, one table per slot."""
        return _toml(self.to_dict())

    @classmethod
    def from_toml(cls, text: str) -> Recipe:
        """Read what :meth:`to_toml` wrote, or what a user wrote by hand."""
        return cls.from_dict(tomllib.loads(text))


SLOTS = ("scalarizer", "mu", "advantage", "combiner", "critic")


def _plain(name: str, value: Any) -> Any:
    """Return a spec as a dictionary with its class name under ``type``."""
    if isinstance(value, Live):
        raise ValueError(f"`{name}` must be a spec to be written to a file, got a live {type(value.module).__name__}.")
    if is_dataclass(value):
        numbers = {f.name: _plain(f.name, getattr(value, f.name)) for f in fields(value)}
        return {"type": type(value).__name__, **numbers} if isinstance(value, Spec) else numbers
    return "none" if value is None else value


def _spec(name: str, data: Any) -> Any:
    """Return the spec that a dictionary describes."""
    if not isinstance(data, Mapping):
        return None if data == "none" else data
    kind = data.get("type")
    if kind not in SPECS:
        raise ValueError(f"`{name}` must have a known type ({', '.join(sorted(SPECS))}), got {kind!r}.")
    values = {key: _spec(key, value) for key, value in data.items() if key != "type"}
    foreign = set(values) - {f.name for f in fields(SPECS[kind])}
    if foreign:
        raise ValueError(f"`{name}` must have fields of {kind}, got {sorted(foreign)}.")
    return SPECS[kind](**values)


def _toml(table: Mapping[str, Any], path: str = "") -> str:
    """Write nested tables: numbers and words first, then the sub-tables."""
    lines = [f"[{path}]"] if path else []
    lines += [f"{key} = {json.dumps(value)}" for key, value in table.items() if not isinstance(value, Mapping)]
    below = [_toml(v, f"{path}.{k}" if path else k) for k, v in table.items() if isinstance(v, Mapping)]
    return "\n".join(lines + below) + ("" if path else "\n")
