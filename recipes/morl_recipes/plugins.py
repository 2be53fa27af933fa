"""A user's own rows: a Python file whose source travels with the job, so that every worker knows the same blocks."""

import hashlib
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from morl_recipes.naming import unknown
from morl_recipes.recipe import Recipe


@dataclass(frozen=True)
class Plugin:
    """A user's file with specs and rows.

    Args:
        path: Where it was read; tracebacks name it.
        source: Its text.
    """

    path: str
    source: str = field(repr=False)

    @classmethod
    def read(cls, path: str | Path) -> "Plugin":
        """Read a file; one that is missing or cannot be read raises ``ValueError``."""
        try:
            return cls(str(path), Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}).") from error

    def load(self) -> ModuleType:
        """Run the file, once per process, and return it as a module.

        The module's name follows from the file's name and text, so the same file has the same name in every process
        and two files that are both called ``my_rows.py`` do not meet.
        """
        mark = hashlib.sha256(self.source.encode()).hexdigest()[:8]
        name = f"morl_rows_{re.sub(r'[^0-9A-Za-z]', '_', Path(self.path).stem)}_{mark}"
        if name in sys.modules:
            return sys.modules[name]
        module = ModuleType(name)
        module.__file__ = self.path
        sys.modules[name] = module
        try:
            exec(compile(self.source, self.path, "exec"), module.__dict__)
        except Exception as error:
            del sys.modules[name]
            raise ValueError(f"{self.path}: failed to load ({type(error).__name__}: {error}).") from error
        return module


def rows_of(plugin: Plugin, name: str) -> dict[str, Recipe]:
    """Return the rows that a name of a user's file stands for: one recipe, or a dictionary of them.

    Example:
        >>> plugin = Plugin("my_rows.py", "from morl_recipes.rows import PASTA as Mine")
        >>> list(rows_of(plugin, "Mine"))
        ['Mine']
    """
    module = plugin.load()
    found = {key: value for key, value in vars(module).items() if isinstance(value, Recipe) or _is_rows(value)}
    if name not in found:
        raise unknown(f"row of {plugin.path}", name, found or ("(it defines no Recipe)",))
    value = found[name]
    return {name: value} if isinstance(value, Recipe) else dict(value)


def _is_rows(value: object) -> bool:
    return isinstance(value, Mapping) and bool(value) and all(isinstance(item, Recipe) for item in value.values())
