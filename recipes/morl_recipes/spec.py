"""Specs: frozen descriptions of blocks that fill a recipe's slots, and the way from R of them to one live block.

A spec carries the name and the numbers of a block, never a live module, so recipes share no state, compare by value and
travel as JSON. Each spec class registers itself under its name; a user's own spec does too, by being imported.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn

from morl_recipes import _checks

SPECS: dict[str, type[Spec]] = {}


@dataclass(frozen=True)
class Spec:
    """A frozen, comparable, serialisable description of a block.

    A subclass is a frozen dataclass whose ``float`` fields are the numbers in which the runs of one population may
    differ. Either it sets ``block``, a constructor that takes each float as a tensor with one number per run, or it
    overrides :meth:`build`, which is then called once per run.

    Example:
        >>> from morl_recipes.specs import Fixed
        >>> Fixed(2)
        Fixed(mu=2.0)
    """

    block: ClassVar[Callable[..., Any] | None] = None
    slot: ClassVar[str | None] = None
    """The slot of a recipe that such a spec fills; ``None`` for a user's own, which may fill any."""
    nested: ClassVar[Mapping[str, str]] = {}
    """Fields that hold specs, with the slot of each."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Register the class under its name."""
        super().__init_subclass__(**kwargs)
        if cls.__name__.startswith("_"):
            return
        other = SPECS.get(cls.__name__)
        if other is not None and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(f"`{cls.__name__}` must be a new name for a spec, got that of {other.__module__}.")
        SPECS[cls.__name__] = cls

    def __post_init__(self) -> None:
        """Require numbers in float fields, as floats, and fitting specs in nested ones."""
        for field in fields(self):
            if field.type in ("float", float):
                object.__setattr__(self, field.name, _checks.number(field.name, getattr(self, field.name)))
        for name, slot in self.nested.items():
            require_slot(name, getattr(self, name), slot)

    def build(self, *args: Any) -> Any:
        """Return the live block of one run; ``args`` are what the slot hands over, if anything."""
        if self.block is None:
            raise NotImplementedError(f"{type(self).__name__} must set `block` or override `build`.")
        return self.block(*args, **{f.name: _live(getattr(self, f.name)) for f in fields(self)})


def _live(value: object) -> object:
    return value.build() if isinstance(value, Spec) else value


@dataclass(frozen=True)
class Live(Spec):
    """A live module in a slot: every run gets its own deep copy. It cannot be written to JSON.

    Args:
        module: A scalarizer, scheduler, combiner or critic.
    """

    module: nn.Module

    def build(self, *args: Any) -> nn.Module:
        """Return a copy of the module."""
        return copy.deepcopy(self.module)


def require_slot(name: str, value: object, slot: str) -> None:
    """Require a spec that fits a slot.

    Example:
        >>> from morl_recipes.specs import PCGrad
        >>> require_slot("mu", PCGrad(), "mu")
        Traceback (most recent call last):
        ...
        ValueError: `mu` must be a spec or a module of the kind mu, got PCGrad(), which is a combiner.
    """
    if not isinstance(value, Spec):
        _checks.fail(name, f"be a spec or a module of the kind {slot}", repr(value))
    if value.slot not in (None, slot):
        _checks.fail(name, f"be a spec or a module of the kind {slot}", f"{value!r}, which is a {value.slot}")


def as_spec(value: Any) -> Any:
    """Return specs and ``None`` as they are and wrap a live module in :class:`Live`."""
    return Live(value) if isinstance(value, nn.Module) else value


def is_stackable(spec: Spec) -> bool:
    """Tell whether R such specs become one block with R numbers per field (rather than R blocks)."""
    children = [v for f in fields(spec) if isinstance(v := getattr(spec, f.name), Spec)]
    return type(spec).build is Spec.build and spec.block is not None and all(map(is_stackable, children))


def stacked_fields(specs: Sequence[Spec]) -> dict[str, Any]:
    """Merge the fields of R specs of one structure: floats become ``[R]`` tensors, nested specs stacked blocks.

    Example:
        >>> from morl_recipes.specs import Fixed
        >>> stacked_fields([Fixed(1.0), Fixed(5.0)])
        {'mu': tensor([1., 5.])}
    """
    merged: dict[str, Any] = {}
    for field in fields(specs[0]):
        values = [getattr(spec, field.name) for spec in specs]
        if isinstance(values[0], float):
            merged[field.name] = torch.tensor(values)
        elif isinstance(values[0], Spec):
            merged[field.name] = stack(values)
        else:
            merged[field.name] = values[0]
    return merged


def stack(specs: Sequence[Spec], *args: Any) -> Any:
    """Build one live block that serves all R runs; the specs must be stackable and have one structure."""
    block = cast("Callable[..., Any]", type(specs[0]).block)
    return block(*args, **stacked_fields(specs))


def structure(value: object) -> object:
    """Return what must agree for runs to share a population: everything except the numbers.

    Example:
        >>> from morl_recipes.specs import Fixed, LinearDecay
        >>> structure(Fixed(1.0)) == structure(Fixed(5.0)), structure(Fixed(1.0)) == structure(LinearDecay())
        (True, False)
    """
    if isinstance(value, float):
        return "number"
    if isinstance(value, Live):
        return "Live", id(value.module)
    if isinstance(value, Spec):
        return type(value).__name__, tuple((f.name, structure(getattr(value, f.name))) for f in fields(value))
    return value


def per_run(value: Tensor | float, dims: int) -> Tensor | float:
    """Append ``dims`` axes to an ``[R]`` tensor, so that it broadcasts against ``[R, ...]``; numbers stay."""
    return value.reshape(-1, *[1] * dims) if isinstance(value, Tensor) and value.dim() == 1 else value
