"""A recipe: which block fills each slot of the training loop, as frozen data in the terms of the paper."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from morl_blocks.ppo.actors import INITIAL_LOG_STD
from morl_recipes.common import checks, toml
from morl_recipes.recipe import specs
from morl_recipes.recipe.ppo import PPO
from morl_recipes.recipe.spec import SLOT_BASES, AnySpec, Live, Spec, as_spec, kind_of, require_slot


@dataclass(frozen=True)
class Recipe:
    """The definition of a training. The defaults are PASTA; a variant is one ``dataclasses.replace``.

    Args:
        scalarizer: Maps normalised returns to a utility and an attention over the objectives.
        mu: Scheduler of the smoothness, for scalarizers that take a scheduler; ``None`` for the others.
        advantage: ``Vector()`` keeps one advantage per objective, ``Scalarised()`` computes one of the utility.
        combiner: Maps one gradient per objective to one update; it has no effect on a scalarised advantage.
        critic: The value network, alone (all objectives have equal weight) or in ``AttentionWeighted``.
        actor: The policy network.
        loss: Maps probabilities and advantages to one loss per objective.
        ppo: The hyperparameters of PPO.
        preferences: ``Given()`` trains each run for its own preference; ``Uniform()``, ``Dirichlet(alpha)`` and
            ``Grid(n)`` draw another one for every episode, so that one policy learns all of them.
        penalty: An additional term of the actor's loss, such as ``Indifference()``; ``None`` for none.

    Example:
        >>> from dataclasses import replace
        >>> from morl_recipes.recipe.specs import Fixed
        >>> fixed = replace(Recipe(), mu=Fixed(0.5))
        >>> Recipe.from_json(fixed.to_json()) == fixed
        True
    """

    scalarizer: AnySpec = field(default_factory=specs.AdaptiveSmoothTchebycheff)
    mu: AnySpec | None = field(default_factory=specs.ConflictBraked)
    advantage: AnySpec = field(default_factory=specs.Vector)
    combiner: AnySpec = field(default_factory=specs.PCGrad)
    critic: AnySpec = field(default_factory=specs.AttentionWeighted)
    actor: AnySpec = field(default_factory=specs.Actor)
    loss: AnySpec = field(default_factory=specs.ClippedSurrogate)
    ppo: PPO = field(default_factory=PPO)
    preferences: AnySpec = field(default_factory=specs.Given)
    penalty: AnySpec | None = None

    def __post_init__(self) -> None:
        """Wrap live modules, and raise for values that fit no slot or cannot be built."""
        for name in SLOTS:
            value = as_spec(getattr(self, name))
            object.__setattr__(self, name, value)
            if not (name in ("mu", "penalty") and value is None):
                require_slot(name, value, name)
        if not isinstance(self.ppo, PPO):
            checks.fail("ppo", "be a PPO", repr(self.ppo))
        self.build_scalarizer()

    def build_scalarizer(self) -> Any:
        """Return the live scalarizer of one run, with its scheduler."""
        scheduled = isinstance(self.scalarizer, Spec) and self.scalarizer.kind.scheduled
        if scheduled and self.mu is None:
            checks.fail("mu", f"be a scheduler for {self.scalarizer!r}", None)
        scheduler = None if self.mu is None else self.mu.build()
        return self.scalarizer.build(scheduler) if scheduled else self.scalarizer.build()

    @property
    def conditioned(self) -> bool:
        """Whether one policy is trained for many preferences, drawn episode by episode."""
        return bool(self.preferences.build().redraws)

    def structure(self) -> object:
        """Return a hashable key: runs with the same key can share a batch.

        Scalarizers, schedulers and the floats of PPO may differ; networks, combiner, loss and integers may not.
        """
        shared = tuple((name, getattr(self, name)) for name in SLOTS if name not in ("scalarizer", "mu"))
        return shared, tuple((f.name, getattr(self.ppo, f.name)) for f in fields(PPO) if type(f.default) is not float)

    def differences(self, other: Recipe) -> tuple[str, ...]:
        """Return the names of the slots in which two recipes differ."""
        checks.instance("other", other, Recipe, "be a Recipe")
        return tuple(f.name for f in fields(Recipe) if getattr(self, f.name) != getattr(other, f.name))

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, strings and numbers; no smoothness is ``"none"``, because TOML has no null.

        Later additions, a slot of ``LATER`` or one of ``LATER_ARGUMENTS``, are left out while they have their defaults.
        So recipes that do not use them keep their text and their names.
        """
        written = {f.name: fields_of(f.name, getattr(self, f.name)) for f in fields(Recipe)}
        for block in [block for block in written.values() if isinstance(block, dict)]:
            # PPO's numbers are no block and name no type.
            for name, default in LATER_ARGUMENTS.get(block.get("type", "PPO"), {}).items():
                if block.get(name) == default:
                    del block[name]
        return {name: value for name, value in written.items() if LATER.get(name) != value}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Recipe:
        """Read the output of :meth:`to_dict`, of this version or of 0.1; missing slots are those of PASTA."""
        data = upgraded(checks.table("recipe", data))
        for name in data:
            if name not in (*SLOTS, "ppo"):
                checks.fail("recipe", f"have the slots {', '.join((*SLOTS, 'ppo'))}", repr(name))
        slots = {name: _spec(name, data[name]) for name in SLOTS if name in data}
        return cls(**slots, ppo=PPO.from_dict(data.get("ppo", {})))

    def to_json(self) -> str:
        """Return one line of JSON."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """Read the output of :meth:`to_json`."""
        try:
            data = json.loads(checks.text("text", text))
        except (json.JSONDecodeError, RecursionError) as error:
            raise ValueError(f"`text` must be JSON, got {text[:100]!r} ({error}).") from error
        return cls.from_dict(data)

    def to_toml(self) -> str:
        """Return TOML, one table per slot."""
        return _toml(self.to_dict())

    @classmethod
    def from_toml(cls, text: str) -> Recipe:
        """Read the output of :meth:`to_toml`, or TOML written by a user."""
        return cls.from_dict(toml.loads(checks.text("text", text)))


SLOTS = tuple(SLOT_BASES)

LATER: dict[str, Any] = {"preferences": {"type": "Given"}, "penalty": "none"}
"""Slots that were added after the first stores were written, with their defaults."""

LATER_ARGUMENTS: dict[str, dict[str, Any]] = {
    "Actor": {"log_std": INITIAL_LOG_STD},
    "PPO": {"learning_rate_decay": PPO.learning_rate_decay},
}
"""Arguments of blocks and settings of PPO that were added later, with their defaults."""


def upgraded(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recipe of version 0.1 in the current format; current recipes are returned unchanged.

    In that version the actor's width was a setting of PPO, and fixed STCH took its smoothness from the ``mu`` slot.
    """
    data = dict(data)
    ppo, scalarizer, mu = (data.get(name) for name in ("ppo", "scalarizer", "mu"))
    if isinstance(ppo, Mapping) and "hidden" in ppo:
        data["ppo"] = {name: value for name, value in ppo.items() if name != "hidden"}
        data.setdefault("actor", {"type": "Actor", "hidden": ppo["hidden"]})
    if not isinstance(scalarizer, Mapping) or not isinstance(mu, Mapping):
        return data
    if scalarizer.get("type") == "SmoothTchebycheff" and "mu" not in scalarizer:
        if mu.get("type") == "Fixed":
            data |= {"scalarizer": {**scalarizer, "mu": mu.get("mu", 1.0)}, "mu": "none"}
        else:
            data["scalarizer"] = {**scalarizer, "type": "AdaptiveSmoothTchebycheff", "maintenance": 0.0}
    return data


def fields_of(name: str, value: Any) -> Any:
    """Return a spec as a dictionary with its kind under ``type``."""
    if isinstance(value, Live):
        checks.fail(name, "be a spec to be written to a file", f"a live {type(value.module).__name__}")
    if isinstance(value, Spec):
        return {"type": value.kind.name, **{key: fields_of(key, item) for key, item in value.values}}
    if isinstance(value, PPO):
        return asdict(value)
    if isinstance(value, tuple):
        return list(value)
    return "none" if value is None else value


def _spec(name: str, data: Any) -> Any:
    """Return the spec that a dictionary describes."""
    if isinstance(data, Mapping) and ("type" in data or name in SLOTS):
        kind = kind_of(data.get("type"))
        return kind(**{key: _spec(key, value) for key, value in data.items() if key != "type"})
    return None if data == "none" else data


def _toml(table: Mapping[str, Any], path: str = "") -> str:
    """Write nested tables: numbers and strings first, then the sub-tables."""
    lines = [f"[{path}]"] if path else []
    lines += [f"{key} = {json.dumps(value)}" for key, value in table.items() if not isinstance(value, Mapping)]
    below = [_toml(v, f"{path}.{k}" if path else k) for k, v in table.items() if isinstance(v, Mapping)]
    return "\n".join(lines + below) + ("" if path else "\n")
