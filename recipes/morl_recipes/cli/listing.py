"""``morl-blocks list``."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from morl_recipes.common.naming import count
from morl_recipes.common.text import for_terminal, say

if TYPE_CHECKING:
    from morl_envs.cards import EnvCard
    from morl_recipes.recipe.selection import Row

ROWS_TEXT = Path(__file__).with_name("rows.txt")
"""The text of :func:`show_rows` for all rows, stored so that ``morl-blocks list`` does not import PyTorch."""


@dataclass(frozen=True)
class List:
    """Show recipes, with what each changes in PASTA, and environments.

    Examples:
      morl-blocks list
      morl-blocks list critic "No Decay" my_rows.py:MyRow
      morl-blocks list my_rows.py
    """

    names: Annotated[
        tuple[str, ...],
        tyro.conf.Positional,
        tyro.conf.arg(metavar="[NAME ...]", help_behavior_hint="(default: everything)"),
    ] = ()
    """Groups, rows, or your own files; by default everything."""

    def run(self, argv: list[str]) -> int:
        """Print the lists."""
        say(show_rows(self.names) if self.names else f"{ROWS_TEXT.read_text().rstrip()}\n\n{show_environments()}")
        return 0


def show_rows(names: tuple[str, ...]) -> str:
    """Describe rows, group by group."""
    from morl_recipes.recipe.rows import ROWS
    from morl_recipes.recipe.selection import select_rows

    rows = select_rows(names or ("all",))
    lines = []
    if not names:
        own, readings = (sum(row.group == group for row in rows) for group in ("ours", "readings"))
        paper = f"{len(rows) - own - readings} recipes of the paper in {len(ROWS) - 2} groups"
        lines += [f"{paper}, {own} of our own, and {readings} other readings of it.", ""]
    for group in dict.fromkeys(row.group for row in rows):
        members = [row for row in rows if row.group == group]
        width = max(26, *(len(row.method) for row in members))
        lines += [group, *(f"  {for_terminal(row.method):<{width}} {_changes(row)}" for row in members), ""]
    return "\n".join(lines).rstrip()


def _changes(row: Row) -> str:
    """Describe how a row differs from PASTA, slot by slot."""
    from morl_recipes.recipe.rows import PASTA

    slots = row.recipe.differences(PASTA)
    changes = [text for slot in slots for text in _change(slot, getattr(PASTA, slot), getattr(row.recipe, slot))]
    return ", ".join(changes) or "PASTA as published"


def _change(name: str, before: Any, after: Any) -> list[str]:
    """Return the arguments that changed, or the whole slot if another block fills it."""
    from morl_recipes.recipe.spec import Spec

    if isinstance(before, Spec) and isinstance(after, Spec) and before.kind is after.kind:
        pairs = zip(before.values, after.values, strict=True)
        named = [(f"{name}.{key}", old, new) for (key, old), (_, new) in pairs if old != new]
    elif is_dataclass(after) and type(before) is type(after) and not isinstance(after, Spec):
        both = [(f.name, getattr(before, f.name), getattr(after, f.name)) for f in fields(after)]
        named = [(f"{name}.{key}", old, new) for key, old, new in both if old != new]
    else:
        return [f"{name} = {after.brief() if isinstance(after, Spec) else repr(after)}"]
    return [text for change in named for text in _change(*change)]


def show_environments() -> str:
    """Describe the environments."""
    from morl_envs.cards import CARDS

    width = max(map(len, CARDS))
    return "\n".join([f"{len(CARDS)} environments", *(_describe(card, width) for card in CARDS.values())])


def _describe(card: EnvCard, width: int) -> str:
    actions = f"{card.num_actions} actions" if card.num_actions is not None else f"{card.action_dim}-d actions"
    preferences = count(len(card.preferences), "preference")
    facts = f"{card.observation_dim} observations, {actions}, {card.horizon} steps, {preferences}"
    missing = card.missing()
    note = "" if missing is None else f" (not installed: pip install 'morl-blocks[{missing}]')"
    return f"  {card.name:<{width}} {', '.join(card.objectives)}; {facts}{note}"


if __name__ == "__main__":
    ROWS_TEXT.write_text(show_rows(()) + "\n")
