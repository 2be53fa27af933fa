"""``morl-blocks figures``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from morl_recipes.cli.options import Folder, Score, default
from morl_recipes.common.naming import count
from morl_recipes.common.text import say


@dataclass(frozen=True)
class Figures:
    """Write the figures of the report as pictures for a paper, one file per environment, group and figure.

    Examples:
      morl-blocks figures runs/smoke
      morl-blocks figures runs/paper_baselines --out figures --formats pdf
    """

    folder: Folder
    """Results of a sweep or a training, complete or not."""
    out: Annotated[Path | None, default("figures beside the results", "PATH")] = None
    """Folder of the pictures."""
    formats: tuple[Literal["png", "pdf", "svg"], ...] = ("png", "pdf")
    """Kinds of files."""
    score: Score = None

    def run(self, argv: list[str]) -> int:
        """Write the pictures and list their files."""
        from morl_recipes.analysis.report.figures import write_figures

        out = self.out or self.folder / "figures"
        written = write_figures(self.folder, out, formats=self.formats, score=self.score)
        say("\n".join(map(str, written)))
        say(f"{count(len(written), 'file')} in {out}")
        return 0
