"""A recipe as plain fields: describe it for a file, and change it by dotted names."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from morl_recipes.common import checks
from morl_recipes.common.naming import unknown
from morl_recipes.recipe.policy_network import describe_actor, read_actor
from morl_recipes.recipe.ppo import PPO
from morl_recipes.recipe.recipe import SLOTS, Recipe
from morl_recipes.recipe.spec import AnySpec, Live, Spec, kind_of


def describe_recipe(recipe: Recipe) -> dict[str, Any]:
    """Return the recipe as plain fields, or its text and digests if it holds live modules, which no file can store."""
    try:
        return recipe.to_dict()
    except ValueError:
        live = dict(found for slot in SLOTS for found in _digests(slot, getattr(recipe, slot)))
        return {"text": repr(recipe), "actor": describe_actor(recipe.actor), "live": live}


def _digests(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Find the live modules of a slot by dotted name, including those that are arguments of a spec."""
    if isinstance(value, Live):
        yield name, digest_of(value.module)
    elif isinstance(value, Spec):
        for key, item in value.values:
            yield from _digests(f"{name}.{key}", item)


def described_actor(recipe: Mapping[str, Any]) -> AnySpec | Mapping[str, Any] | None:
    """Return the actor of a described recipe; ``None`` is the paper's, which version 0.1 did not store."""
    if "actor" in recipe:
        return read_actor(recipe["actor"])
    return {"text": "a recipe that does not tell it"} if "text" in recipe else None


def change_recipe(recipe: Recipe, changes: Mapping[str, Any]) -> Recipe:
    """Return a recipe with some of its fields changed; unknown names and values of another kind raise ``ValueError``.

    ``changes`` holds new values by dotted name: a number (``ppo.learning_rate``, ``mu.base.start``), or the name of a
    spec for a whole slot (``combiner``).
    """
    checks.instance("recipe", recipe, Recipe, "be a Recipe, such as morl_recipes.PASTA")
    parts = [(name.split("."), name, value) for name, value in checks.table("changes", changes).items()]
    changed: Recipe = _changed(recipe, parts, recipe)
    return changed


def parse_changes(texts: Sequence[str]) -> dict[str, Any]:
    """Parse changes of the command line, such as ``ppo.learning_rate=1e-4`` and ``combiner=Sum``."""
    found: dict[str, Any] = {}
    for name, equals, value in (text.partition("=") for text in texts):
        if not equals:
            checks.fail("set", "be a name and a value, such as ppo.learning_rate=1e-4", repr(name))
        found[name.strip()] = value.strip()
        with suppress(ValueError):  # anything but a number, true or false is text
            found[name.strip()] = json.loads(value)
    return found


def _changed(block: Any, changes: Sequence[tuple[list[str], str, Any]], recipe: Recipe) -> Any:
    """Return a recipe, PPO's settings or a spec with changes, each a path, its full name and the new value."""
    own, below = _values(block), dict[str, list[tuple[list[str], str, Any]]]()
    for (first, *rest), name, value in changes:
        if first not in own:
            raise unknown("part of the recipe", name, _names(recipe))
        if rest:
            below.setdefault(first, []).append((rest, name, value))
        elif own[first] is None or isinstance(own[first], Spec | Live | PPO):
            if not isinstance(value, str):
                checks.fail(name, "be the name of a spec", repr(value))
            own[first] = None if value == "none" else kind_of(value)()
        else:
            own[first] = _like(name, own[first], value)
    own |= {first: _changed(own[first], deeper, recipe) for first, deeper in below.items()}
    if not changes:
        return block
    return block.kind(**own) if isinstance(block, Spec) else replace(block, **own)


def _values(block: Any) -> dict[str, Any]:
    """Return the fields of a recipe, PPO's settings or a spec by name; nothing for anything else."""
    if isinstance(block, Recipe | PPO):
        return {field.name: getattr(block, field.name) for field in fields(block)}
    return dict(block.values) if isinstance(block, Spec) else {}


def _like(name: str, before: Any, value: Any) -> Any:
    """Require a value of the same kind as the previous one."""
    for kind, rule in ((bool, "be true or false"), (str, "be a word")):
        if isinstance(before, kind):
            return value if isinstance(value, kind) else checks.fail(name, rule, repr(value))
    return checks.at_least(name, value, 0) if isinstance(before, int) else checks.number(name, value)


def _names(block: Any, path: str = "") -> list[str]:
    """List every dotted name of a recipe."""
    return [one for key, value in _values(block).items() for one in (f"{path}{key}", *_names(value, f"{path}{key}."))]


def blocks_of(recipe: Recipe | Mapping[str, Any]) -> str:
    """Return the part of a recipe that affects training as text: its slots without PPO's settings, in a canonical form.

    JSON of older stores gets the slots that were added later; JSON that this version cannot read is kept as it is. A
    conflict brake can raise the smoothness to its maximum but no further, so over a base that is fixed at this maximum
    it has no effect. So the paper's *No Decay* equals its *mu=10.0*.
    """
    return _blocks(json.dumps(recipe.to_dict() if isinstance(recipe, Recipe) else recipe, sort_keys=True, default=repr))


@lru_cache(maxsize=4096)
def _blocks(text: str) -> str:
    """Canonicalise text, which can be cached: a sweep has few recipes and many runs."""
    recipe = json.loads(text)
    with suppress(KeyError, TypeError, ValueError):  # from another version, or from a user's file that is not loaded
        recipe = Recipe.from_dict(recipe).to_dict()
    blocks = {slot: recipe.get(slot) for slot in SLOTS}
    mu = blocks.get("mu")
    if isinstance(mu, Mapping) and mu.get("type") == "ConflictBraked":
        base = mu.get("base")
        if isinstance(base, Mapping) and base.get("type") == "Fixed" and base.get("mu") == mu.get("maximum"):
            blocks["mu"] = base
    return json.dumps(blocks, sort_keys=True)


_INTERNAL = vars(nn.Module()).keys() - {"training"}
"""Attributes of every module, which do not affect its computation."""


def digest_of(module: nn.Module) -> str:
    """Return a short digest of a module's class, tensors and plain attributes; of a function it includes the name."""
    return sha256(json.dumps(_as_json(module, frozenset())).encode()).hexdigest()[:16]


def _as_json(value: Any, above: frozenset[int]) -> Any:
    """Return a value as JSON data; ``above`` has the ids of the containers around it, so that a cycle ends."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Tensor):
        raw = value.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes()
        return ["tensor", str(value.dtype), list(value.shape), value.requires_grad, sha256(raw).hexdigest()]
    if isinstance(value, np.ndarray | np.generic):
        return ["array", str(value.dtype), list(value.shape), sha256(value.tobytes()).hexdigest()]
    if isinstance(value, type) or inspect.isroutine(value):
        return [getattr(value, "__module__", ""), value.__qualname__]
    if id(value) in above:
        return "above"
    above |= {id(value)}
    if isinstance(value, Mapping):
        return [[str(key), _as_json(item, above)] for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [_as_json(item, above) for item in value]
    if isinstance(value, set | frozenset):  # the order of strings differs between processes
        return sorted(json.dumps(_as_json(item, above)) for item in value)
    own = dict(getattr(value, "__dict__", {}))
    if isinstance(value, nn.Module):  # its tensors and modules, without PyTorch's own attributes
        held = {**value._parameters, **value._buffers, **value._modules}
        own = {name: item for name, item in own.items() if name not in _INTERNAL} | held
    return [_as_json(type(value), above), _as_json(own, above)]
