"""``morl-blocks report``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from morl_recipes.cli.options import Folder, Score, default
from morl_recipes.common.text import say


@dataclass(frozen=True)
class Report:
    """Write an interactive report of results as one HTML file that opens offline.

    Examples:
      morl-blocks report runs/smoke
      morl-blocks report runs/paper_baselines --out report.html --title "Baselines on stealth"
    """

    folder: Folder
    """Results of a sweep or a training, complete or not."""
    out: Annotated[Path | None, default("report.html beside the results", "PATH")] = None
    """The HTML file."""
    title: str = "Multi-objective policies"
    """Heading of the report."""
    score: Score = None

    def run(self, argv: list[str]) -> int:
        """Write the report."""
        from morl_recipes.analysis.report.page import write_report

        out = self.out or self.folder / "report.html"
        say(write_report(self.folder, out, title=self.title, score=self.score))
        return 0
