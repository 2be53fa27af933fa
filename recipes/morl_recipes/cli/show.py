"""``morl-blocks table`` and ``morl-blocks report``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from morl_recipes.cli.words import Folder, Format, Score


@dataclass(frozen=True)
class Table:
    """Print the paper's tables from results, ours beside the paper's.

    Examples:
      morl-blocks table runs/smoke
      morl-blocks table runs/paper_baselines --format latex --kind preferences
      morl-blocks table runs/mine --against Linear
      morl-blocks table --results stealth-200k
    """

    folder: Annotated[
        Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="[FOLDER]", help_behavior_hint="(or --results)")
    ] = None
    """Results of a sweep or a training, complete or not."""
    results: Annotated[str | None, tyro.conf.arg(metavar="NAME", help_behavior_hint="(default: none)")] = None
    """In place of a folder, a table that was trained and published with this package, or the file of one of yours."""
    format: Format = "terminal"
    """How to print."""
    kind: Literal["summary", "preferences"] = "summary"
    """One line per method, or one per method and preference."""
    score: Score = None
    against: Annotated[str | None, tyro.conf.arg(metavar="ROW", help_behavior_hint="(default: PASTA)")] = None
    """The row that the others are compared with; it stands in every table."""

    def run(self, argv: list[str]) -> int:
        """Print the tables."""
        from morl_recipes.analysis.datasets.dataset import find_dataset
        from morl_recipes.analysis.tables.render import render_table

        if (self.folder is None) == (self.results is None):
            raise ValueError("`table` needs the folder of results, or --results NAME, and not both.")
        source = find_dataset(self.results) if self.results is not None else self.folder or Path()
        print(render_table(source, format=self.format, kind=self.kind, score=self.score, against=self.against))
        return 0


@dataclass(frozen=True)
class Report:
    """Write an interactive report of results as one HTML file that opens offline.

    Examples:
      morl-blocks report runs/smoke
      morl-blocks report runs/paper_baselines --out report.html --title "Baselines on stealth"
    """

    folder: Folder
    """Results of a sweep or a training, complete or not."""
    out: Annotated[
        Path | None, tyro.conf.arg(metavar="PATH", help_behavior_hint="(default: report.html beside the results)")
    ] = None
    """The file."""
    title: str = "Multi-objective policies"
    """Heading of the report."""
    score: Score = None

    def run(self, argv: list[str]) -> int:
        """Write the report."""
        from morl_recipes.analysis.report.page import write_report

        out = self.out or self.folder / "report.html"
        print(write_report(self.folder, out, title=self.title, score=self.score))
        return 0
