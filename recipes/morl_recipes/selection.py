"""From the names that people type to recipes: groups, rows, and rows of their own files."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from morl_recipes import paper
from morl_recipes.naming import unknown
from morl_recipes.plugins import Plugin, rows_of
from morl_recipes.recipe import Recipe
from morl_recipes.rows import ROWS


@dataclass(frozen=True)
class Row:
    """A recipe under the name that tables print.

    Args:
        group: Group of recipes, as in ``ROWS``; the stem of the file for a user's own rows.
        method: Name within the group.
        recipe: The recipe.
        plugin: The user's file that defines it, if one does.
    """

    group: str
    method: str
    recipe: Recipe
    plugin: Plugin | None = None


def select_rows(names: Iterable[str], folder: str | Path = ".") -> list[Row]:
    """Return the rows that names stand for, each once.

    PASTA stands in every group of the paper. It is trained once, in the first group that asks for it, and tables show
    it in all of them.

    Args:
        names: ``"all"``, a group (``"critic"``), a row (``"No Decay"``, ``"controller/No Decay"``) or a row of a file
            (``"my_rows.py:MyRow"``; a dictionary of recipes in the file is a whole group). Case does not matter.
        folder: Where the paths of files begin.

    Example:
        >>> [row.method for row in select_rows(["controller", "linear"])]
        ['PASTA (Ours)', 'No Conflict', 'No Decay', 'Linear']
    """
    chosen: dict[tuple[str, str], Row] = {}
    for name in names:
        for row in _select(name, Path(folder)):
            key = ("", paper.REFERENCE) if row.plugin is None and paper.is_reference(row.method) else None
            chosen.setdefault(key or (row.group, row.method), row)
    return list(chosen.values())


def _select(name: str, folder: Path) -> list[Row]:
    """Return the rows of one name."""
    path, colon, attribute = name.rpartition(":")
    if colon and path.endswith(".py"):
        plugin = Plugin.read(folder / path)
        return [Row(Path(path).stem, key, recipe, plugin) for key, recipe in rows_of(plugin, attribute).items()]
    if name.endswith(".py"):
        raise ValueError(f"{name}: name a row of the file too, as in {name}:MyRow.")
    rows = [Row(group, paper.method_name(key), ROWS[group][key]) for group in ROWS for key in ROWS[group]]
    words = name.lower()
    if words == "all":
        return rows
    if words in ROWS:
        return [row for row in rows if row.group == words]
    group, slash, method = words.partition("/")
    wanted = paper.method_name("PASTA" if (method or group) == "pasta" else (method or group)).lower()
    found = [row for row in rows if row.method.lower() == wanted and (not slash or row.group == group)]
    if not found:
        raise unknown("row", name, ["all", *ROWS, "PASTA", *(row.method for row in rows)])
    return found[:1]
