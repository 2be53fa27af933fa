"""Select recipes by the names that users type: groups, rows, and rows of their own files."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from morl_envs.plugin import Plugin, named_file
from morl_recipes.common import checks
from morl_recipes.common.naming import unknown
from morl_recipes.recipe import paper
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.recipe.rows import FRONT_ACTOR, FRONT_PREFERENCES, ROWS


@dataclass(frozen=True)
class Row:
    """A recipe under its name in tables; the group of a user's own row is the stem of the file."""

    group: str
    method: str
    recipe: Recipe
    plugin: Plugin | None = None


def select_rows(names: Iterable[str]) -> list[Row]:
    """Return the rows for the given names, each once.

    A name is ``"all"``, a group (``"critic"``), a row (``"No Decay"``, ``"controller/No Decay"``), a row of a file
    (``"my_rows.py:MyRow"``; a dictionary of recipes is a whole group) or a whole file (``"my_rows.py"``), in any case.
    PASTA belongs to every group of the paper. It is trained once, in the first group that contains it, and tables show
    it in all of them.
    """
    chosen: dict[tuple[str, str], Row] = {}
    for name in checks.names("names", names):
        for row in _select(name):
            key = ("", paper.REFERENCE) if row.plugin is None and paper.is_reference(row.method) else None
            known = chosen.setdefault(key or (row.group, row.method), row)
            # The same file under two paths counts as one.
            if (known.recipe, known.plugin and known.plugin.source) != (row.recipe, row.plugin and row.plugin.source):
                first, second = ("morl-blocks" if one.plugin is None else one.plugin.path for one in (known, row))
                raise ValueError(
                    f"`rows` must have one recipe per name, got two called {row.group}/{row.method}: {first} and "
                    f"{second}. Rename one of the files or rows."
                )
    return list(chosen.values())


def name_of(recipe: Recipe) -> tuple[str, str]:
    """Return the group and the name of a recipe: those of its row, whatever its PPO settings, or its changes.

    A recipe of :func:`~morl_recipes.front_recipe` is named after the row whose blocks it uses.
    """
    checks.instance("recipe", recipe, Recipe, "be a Recipe, such as morl_recipes.PASTA")
    reference = Recipe()
    if recipe.actor == FRONT_ACTOR and recipe.preferences in (FRONT_PREFERENCES, reference.preferences):
        row = replace(recipe, actor=reference.actor, preferences=reference.preferences)
        return "fronts", f"{name_of(row)[1]}, for fronts"
    blocks = replace(recipe, ppo=reference.ppo)
    for group, rows in ROWS.items():
        for name, row in rows.items():
            if replace(row, ppo=reference.ppo) == blocks:
                return group, paper.method_name(name)
    return "custom", f"custom ({', '.join(blocks.differences(reference))})"


def _select(name: str) -> list[Row]:
    """Return the rows with a name."""
    if (file := named_file(name)) is not None:
        group = Path(file.path).stem
        if group.lower() in ROWS:
            raise ValueError(
                f"`rows` must come from a file whose name is not a group of morl-blocks, got {file.path}: "
                f"rename it to something other than {', '.join(ROWS)}."
            )
        plugin = Plugin.read(file.path)
        return [Row(group, key, recipe, plugin) for key, recipe in rows_of(plugin, file.attribute).items()]
    rows = [Row(group, key, ROWS[group][key]) for group in ROWS for key in ROWS[group]]
    words = name.lower()
    found = [row for row in rows if words in ("all", row.group)]
    if not found:  # of rows with the same name, the first
        found = [row for row in rows if {words, words.removeprefix(f"{row.group}/")} & _spellings(row.method)][:1]
    if not found:
        raise unknown("row", name, ["all", *ROWS, "PASTA", *(row.method for row in rows)])
    return [replace(row, method=paper.method_name(row.method)) for row in found]


def _spellings(method: str) -> set[str]:
    """Return the possible names of a row, in lower case."""
    return {method.lower(), paper.method_name(method).lower(), *(["pasta"] if paper.is_reference(method) else [])}


def rows_of(plugin: Plugin, name: str = "") -> dict[str, Recipe]:
    """Return the rows for a name of a user's file, a recipe or a dictionary; without a name, all rows."""
    module = plugin.load()
    found = {key: value for key, value in vars(module).items() if isinstance(value, Recipe) or _is_rows(value)}
    if name and name not in found:
        raise unknown(f"row of {plugin.path}", name, found or ("(it defines no Recipe)",))
    known = [id(value) for value in vars(import_module("morl_recipes.recipe.rows")).values()]
    own = {key: value for key, value in found.items() if key == name or (not name and id(value) not in known)}
    if not own:
        raise ValueError(f"{plugin.path}: defines no Recipe.")
    rows: dict[str, Recipe] = {}
    for key, value in own.items():
        rows |= {key: value} if isinstance(value, Recipe) else dict(value)
    return rows


def explain(error: BaseException, plugins: Iterable[Plugin]) -> str:
    """Describe an error with the last line of a user's file that it passed through: ``... (my_rows.py:12)``."""
    places = [f"{plugin.path}:{line}" for plugin in plugins if (line := plugin.line_of(error)) is not None]
    return f"{type(error).__name__}: {error}" + "".join(f" ({place})" for place in places[:1])


def _is_rows(value: object) -> bool:
    return isinstance(value, Mapping) and bool(value) and all(isinstance(item, Recipe) for item in value.values())
