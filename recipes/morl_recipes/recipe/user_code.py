"""A user's own rows: the recipes that a Python file defines."""

from collections.abc import Iterable, Mapping
from importlib import import_module

from morl_envs.plugin import Plugin
from morl_recipes.common.naming import unknown
from morl_recipes.recipe.recipe import Recipe


def rows_of(plugin: Plugin, name: str = "") -> dict[str, Recipe]:
    """Return the rows that a name of a user's file stands for: one recipe, or a dictionary of them.

    Args:
        plugin: The file.
        name: The name; without one, all rows that the file defines.

    Example:
        >>> plugin = Plugin("my_rows.py", "from morl_recipes.recipe.rows import PASTA as Mine")
        >>> list(rows_of(plugin, "Mine"))
        ['Mine']
    """
    module = plugin.load()
    found = {key: value for key, value in vars(module).items() if isinstance(value, Recipe) or _is_rows(value)}
    known = {id(value) for value in vars(import_module("morl_recipes.recipe.rows")).values()}
    own = {key: value for key, value in found.items() if id(value) not in known}
    if not own and not name:
        raise ValueError(f"{plugin.path}: defines no Recipe.")
    if name and name not in found:
        raise unknown(f"row of {plugin.path}", name, found or ("(it defines no Recipe)",))
    rows: dict[str, Recipe] = {}
    for key, value in own.items() if not name else [(name, found[name])]:
        rows |= {key: value} if isinstance(value, Recipe) else dict(value)
    return rows


def explain(error: BaseException, plugins: Iterable[Plugin]) -> str:
    """Name an error and, where it passed through a user's file, the last line of that: ``... (my_rows.py:12)``."""
    places = [f"{plugin.path}:{line}" for plugin in plugins if (line := plugin.line_of(error)) is not None]
    return f"{type(error).__name__}: {error}" + "".join(f" ({place})" for place in places[:1])


def _is_rows(value: object) -> bool:
    return isinstance(value, Mapping) and bool(value) and all(isinstance(item, Recipe) for item in value.values())
