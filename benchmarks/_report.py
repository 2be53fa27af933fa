"""What a benchmark leaves behind: the lines that it printed and, beside them, its figures as JSON."""

import json
from pathlib import Path
from typing import Any

from morl_recipes.common.atomic_files import staged


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
        for path, text in (
            (self.out, json.dumps(results, indent=2)),
            (self.out.with_suffix(".txt"), "\n".join(self.lines).strip()),
        ):
            with staged(path) as temporary:
                temporary.write_text(text + "\n")
