"""A user's Python file whose source is sent with a job, so that every worker runs the same code."""

import hashlib
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from traceback import walk_tb
from types import ModuleType
from typing import NamedTuple


class FileName(NamedTuple):
    """A user's file, and a name in it; empty for the whole file."""

    path: str
    attribute: str


def named_file(name: str) -> FileName | None:
    """Split ``my_rows.py:MyRow`` or ``my_rows.py`` into file and name; ``None`` when it is not a file.

    Example:
        >>> named_file("worlds/my_env.py:make_env")
        FileName(path='worlds/my_env.py', attribute='make_env')
        >>> named_file("my_rows.py"), named_file("stealth")
        (FileName(path='my_rows.py', attribute=''), None)
    """
    path, _, attribute = (name, "", "") if name.endswith(".py") else name.rpartition(":")
    return FileName(path, attribute) if path.endswith(".py") else None


@dataclass(frozen=True)
class Plugin:
    """A user's file with environments or rows of recipes.

    Args:
        path: Path that was read; tracebacks show it.
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

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    @property
    def _module(self) -> str:
        """Name of the module, computed from the file's name and text, so that it is the same in every process.

        Two different files with the name ``my_rows.py`` get different module names.
        """
        return f"morl_rows_{re.sub(r'[^0-9A-Za-z]', '_', Path(self.path).stem)}_{self.digest[:8]}"

    def line_of(self, error: BaseException) -> int | None:
        """Return the line of this file in which an error arose, or from which it was called last, if any."""
        if isinstance(error, SyntaxError) and error.filename == self.path:
            return error.lineno
        frames = walk_tb(error.__traceback__)
        lines = [line for frame, line in frames if frame.f_globals.get("__name__") == self._module]
        return lines[-1] if lines else None

    def load(self) -> ModuleType:
        """Run the file, once per process, and return it as a module."""
        name = self._module
        if name in sys.modules:
            return sys.modules[name]
        module = ModuleType(name)
        module.__file__ = self.path
        sys.modules[name] = module
        try:
            exec(compile(self.source, self.path, "exec"), module.__dict__)
        except (Exception, SystemExit) as error:  # a file that calls sys.exit(0) must not end a command as a success
            del sys.modules[name]
            place = self.path if (line := self.line_of(error)) is None else f"{self.path}:{line}"
            hint = self._hint(error)
            raise ValueError(f"{place}: failed to load ({type(error).__name__}: {error}).{hint}") from error
        return module

    def _hint(self, error: BaseException) -> str:
        """Explain why a module beside the file is not found."""
        name = (getattr(error, "name", None) or "").partition(".")[0]
        beside = Path(self.path).parent
        if isinstance(error, ModuleNotFoundError) and ((beside / f"{name}.py").exists() or (beside / name).is_dir()):
            return f" Only the file itself travels with a sweep: move what it needs of {name} into it, or install that."
        return ""
