"""``morl-blocks table``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from morl_recipes.cli.options import Format, Score, default
from morl_recipes.common.text import say


@dataclass(frozen=True)
class Table:
    """Print the paper's tables from results, ours beside the paper's.

    Examples:
      morl-blocks table runs/smoke
      morl-blocks table runs/paper_baselines --format latex --kind preferences
      morl-blocks table runs/mine --against Linear
      morl-blocks table --results stealth-200k
    """

    folder: Annotated[Path | None, tyro.conf.Positional, default("see --results", "[FOLDER]")] = None
    """Results of a sweep or a training, complete or not."""
    results: Annotated[str | None, default("none", "NAME")] = None
    """Instead of a folder, a published table of this package by its name, or the file of one."""
    format: Format = "terminal"
    """Output format."""
    kind: Literal["summary", "preferences", "following"] = "summary"
    """One line per method, one per method and preference, or how well methods follow their preference."""
    score: Score = None
    against: Annotated[str | None, default("PASTA", "ROW")] = None
    """The row that the others are compared with; every table shows it."""

    def run(self, argv: list[str]) -> int:
        """Print the tables."""
        from morl_recipes.analysis.datasets import find_dataset
        from morl_recipes.analysis.tables.render import render_table

        if (self.folder is None) == (self.results is None):
            raise ValueError("`table` needs the folder of results, or --results NAME, and not both.")
        source = find_dataset(self.results) if self.results is not None else self.folder or Path()
        say(render_table(source, format=self.format, kind=self.kind, score=self.score, against=self.against))
        return 0
