"""What a benchmark leaves behind: the lines that it printed and, beside them, its figures as JSON."""

import json
from pathlib import Path
from typing import Any


class Report:
    """Print lines as they come and keep them.

    Args:
        out: Where to write the figures; the lines go beside them, as ``.txt``.
    """

    def __init__(self, out: Path) -> None:
        self.out, self.lines = out, list[str]()

    def say(self, *lines: str) -> None:
        """Print lines at once."""
        print(*lines, sep="\n", flush=True)
        self.lines += lines

    def write(self, results: dict[str, Any]) -> None:
        """Write the lines and the figures, replacing older ones."""
        self.out.parent.mkdir(parents=True, exist_ok=True)
        self._replace(self.out, json.dumps(results, indent=2))
        self._replace(self.out.with_suffix(".txt"), "\n".join(self.lines).strip())

    def _replace(self, path: Path, text: str) -> None:
        half = path.with_name(f".{path.name}")
        half.write_text(text + "\n")
        half.replace(path)
