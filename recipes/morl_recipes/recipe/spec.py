"""Specs: a block's class and arguments as frozen data, derived from the block's own signature.

A spec holds the arguments of a block, never a live module, so recipes share no state, compare by value and can be
written as JSON. ``spec(PCGrad)`` makes the kind of spec for a block. Names, defaults and order of its fields are those
of the block's constructor, so nothing is declared twice.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

from morl_blocks.combiners import Combiner
from morl_blocks.critics import AttentionWeightedCritic, Critic
from morl_blocks.ppo import Actor, ActorPenalty, AdvantageForm, ObjectiveLoss
from morl_blocks.preferences import PreferenceSampler
from morl_blocks.scalarizers import Scalarizer
from morl_blocks.schedulers import Scheduler
from morl_recipes.common import checks
from morl_recipes.common.naming import unknown

SLOT_BASES: dict[str, type | tuple[type, ...]] = {
    "scalarizer": Scalarizer,
    "mu": Scheduler,
    "advantage": AdvantageForm,
    "combiner": Combiner,
    "critic": (Critic, AttentionWeightedCritic),
    "actor": Actor,
    "loss": ObjectiveLoss,
    "preferences": PreferenceSampler,
    "penalty": ActorPenalty,
}
"""Base classes of the blocks that fill each slot of a recipe."""


def slot_of(block: object) -> str | None:
    """Return the slot for a block's class."""
    if not isinstance(block, type):
        return None
    return next((slot for slot, base in SLOT_BASES.items() if issubclass(block, base)), None)


KINDS: dict[str, Kind] = {}
"""Every kind of spec by name, for files."""
GIVEN = {"critic": 2, "actor": 3}
"""Number of leading arguments that a slot passes: sizes of observation and preference, and of the action."""
COMPLETE = ("mu", "advantage", "loss", "preferences", "penalty")
"""Slots that pass no arguments and need no optional package, so that mistakes are found when the spec is made."""
SETTLED = ("sense", "seed")
"""Arguments that recipes set themselves: returns are maximised, and every run uses its own generator."""


class Kind:
    """The kind of spec for one block; calling it makes a spec. See :func:`spec`."""

    def __init__(self, block: Callable[..., Any], name: str, slot: str | None, defaults: Mapping[str, Any]) -> None:
        self.block, self.name, self.slot = block, name, slot
        parameters = list(inspect.signature(block).parameters.values())
        self.scheduled = bool(parameters) and parameters[0].name == "scheduler"
        own = parameters[1 if self.scheduled else GIVEN.get(slot or "", 0) :]
        own = [p for p in own if p.name not in SETTLED and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        self.defaults = {p.name: defaults.get(p.name, p.default) for p in own}

    def __call__(self, *args: Any, **kwargs: Any) -> Spec:
        """Return a spec; missing arguments take the block's defaults, unknown ones raise ``ValueError``."""
        if len(args) > len(self.defaults):
            checks.fail(self.name, f"have at most {len(self.defaults)} arguments", len(args))
        given = dict(zip(self.defaults, args, strict=False))
        for name in kwargs:
            if name not in self.defaults:
                raise unknown(f"argument of {self.name}", name, self.defaults)
            if name in given:
                checks.fail(name, "be given once", "two values")
        values = self.defaults | given | kwargs
        if (missing := next((name for name in values if values[name] is inspect.Parameter.empty), None)) is not None:
            how = f", or its slot named, spec({self.block.__name__}, slot='critic'), because {self.name} derives from"
            checks.fail(missing, "be given" + ("" if self.slot else f"{how} no base class of a slot"), "nothing")
        made = Spec(self, tuple((name, _settled(name, values[name], self.defaults[name])) for name in values))
        if self.slot in COMPLETE:
            made.build()  # the block itself checks its arguments
        return made

    def __repr__(self) -> str:
        return f"spec({self.name})"

    def __reduce__(self) -> tuple[Any, ...]:
        return kind_of, (self.name,)


@dataclass(frozen=True)
class Spec:
    """The arguments of a block: frozen, comparable, serialisable. Arguments are attributes."""

    kind: Kind
    values: tuple[tuple[str, Any], ...]

    def __getattr__(self, name: str) -> Any:
        """Return an argument."""
        if name.startswith("_") or name not in dict(self.values):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return dict(self.values)[name]

    def __repr__(self) -> str:
        return f"{self.kind.name}({', '.join(f'{name}={value!r}' for name, value in self.values)})"

    def brief(self) -> str:
        """Return the spec as a user would type it, without arguments that have their defaults."""
        defaults = {name: _settled(name, default, None) for name, default in self.kind.defaults.items()}
        number = [name for name, value in self.values[:1] if isinstance(value, float)]  # always shown
        shown = [(name, value) for name, value in self.values if name in number or value != defaults[name]]
        texts = (f"{name}={value.brief() if isinstance(value, Spec) else repr(value)}" for name, value in shown)
        return f"{self.kind.name}({', '.join(texts)})"

    @property
    def slot(self) -> str | None:
        """The slot of the block; ``None`` for any."""
        return self.kind.slot

    def but(self, **changes: Any) -> Spec:
        """Return the spec with some arguments changed."""
        return self.kind(**{**dict(self.values), **changes})

    def build(self, *given: Any) -> Any:
        """Return a new live block; ``given`` are the arguments that the slot passes, if any."""
        defaults = self.kind.defaults
        return self.kind.block(*given, **{name: _live(value, defaults[name], given) for name, value in self.values})


@dataclass(frozen=True)
class Live:
    """A live module in a slot: every run gets its own deep copy. It cannot be written to JSON."""

    module: nn.Module

    @property
    def slot(self) -> str | None:
        """The slot of the module; ``None`` if its class belongs to no slot."""
        return slot_of(type(self.module))

    def build(self, *given: Any) -> Any:
        """Return a copy of the module."""
        return copy.deepcopy(self.module)


AnySpec = Spec | Live


def spec(block: Callable[..., Any], name: str | None = None, slot: str | None = None, **defaults: Any) -> Kind:
    """Make the kind of spec for a block, and register its name for files.

    Args:
        block: The block's class, such as a custom combiner, or a function that makes it.
        name: Name in files; by default the block's.
        slot: Slot of the recipe; by default that of the block's base class.
        **defaults: Defaults that differ from the block's own.

    Example:
        >>> from morl_blocks.combiners import WeightedSum
        >>> Mine = spec(WeightedSum, name="MySum", rescale=False)
        >>> Mine(), Mine(rescale=True).build()
        (MySum(rescale=False), WeightedSum())
    """
    if not callable(block) or isinstance(block, nn.Module):
        checks.fail("block", "be a class or a function that makes a block", repr(block))
    if slot is not None:
        checks.one_of("slot", slot, SLOT_BASES)
    name = block.__name__ if name is None else checks.text("name", name)
    kind = Kind(block, name, slot or slot_of(block), defaults)
    known = KINDS.get(name)
    if known is not None and _home(known.block) != _home(block):
        raise ValueError(f"`name` must be new among the specs, got {name!r}, that of {'.'.join(_home(known.block))}.")
    KINDS[name] = kind
    return kind


def kind_of(name: object) -> Kind:
    """Return the kind of spec with a name; unknown names raise ``ValueError`` with the nearest ones."""
    import morl_recipes.recipe.specs  # noqa: F401 - registers the kinds of this package

    if not isinstance(name, str) or name not in KINDS:
        raise unknown("type of block", str(name), KINDS)
    return KINDS[name]


def as_spec(value: Any) -> Any:
    """Call a kind that was given without arguments, wrap a live module, and return anything else unchanged."""
    return value() if isinstance(value, Kind) else Live(value) if isinstance(value, nn.Module) else value


def require_slot(name: str, value: object, slot: str) -> None:
    """Require a spec that fits a slot."""
    rule = f"be a spec or a module of the kind {slot}"
    if isinstance(value, type):
        checks.fail(name, f"{rule}, such as spec({value.__name__})()", f"the class {value.__name__}")
    if not isinstance(value, Spec | Live):
        checks.fail(name, rule, repr(value))
    if value.slot not in (None, slot):
        checks.fail(name, rule, f"{value!r}, which is a {value.slot}")


def _home(block: Callable[..., Any]) -> tuple[str, str]:
    return block.__module__, block.__qualname__


def _settled(name: str, value: Any, default: Any) -> Any:
    """Return an argument as it is stored: floats for floats, names for classes of ``torch.nn``, specs for modules."""
    if isinstance(default, float):
        return checks.number(name, value)
    if isinstance(default, bool):
        return checks.flag(name, value)
    words = getattr(value, "__name__", "")
    if isinstance(value, type) and getattr(nn, words, None) is value:
        return words
    value = tuple(value) if isinstance(value, list) else as_spec(value)
    if isinstance(default, Spec) and default.slot is not None:
        require_slot(name, value, default.slot)
    return value


def _live(value: Any, default: Any, given: tuple[Any, ...]) -> Any:
    """Return an argument as the block expects it: nested specs built, names of ``torch.nn`` as classes."""
    if isinstance(value, Spec | Live):
        return value.build(*given)
    if not (isinstance(default, type) and isinstance(value, str)):
        return value
    if not isinstance(getattr(nn, value, None), type):
        checks.fail("activation", "be the name of a class of torch.nn", repr(value))
    return getattr(nn, value)
