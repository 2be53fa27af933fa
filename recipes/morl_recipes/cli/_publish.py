"""``morl-blocks publish``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from morl_recipes.cli._words import count


@dataclass(frozen=True)
class Publish:
    """Keep the finished runs of result folders as one file: a line per run, without policies and histories.

    A file of the same name is extended. The same run twice is refused unless its numbers are the same; so are other
    settings, bounds or recipes. ``morl-blocks table --results`` prints what was published.

    Examples:
      morl-blocks publish runs/stealth_200k --name stealth-200k
      morl-blocks publish runs/mine runs/more --name mine --out results
    """

    folders: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER...")]
    """Results of sweeps or trainings, complete or not."""
    name: str
    """Name of the table."""
    out: Annotated[Path | None, tyro.conf.arg(help_behavior_hint="(default: that of the package)")] = None
    """Folder of the file."""

    def run(self, argv: list[str]) -> int:
        """Write the file, and say what is in it."""
        from morl_recipes.dataset import publish

        made = publish(self.folders, self.name, self.out)
        planned = len(made.manifest.runs)
        rows = {(run.env, run.group, run.method) for run in made.manifest.runs}
        print(f"{self.name}: {len(made.done)} of {planned} planned runs, {count(len(rows), 'row')}.")
        where = self.name if self.out is None else self.out / f"{self.name}.csv"
        print(f"Next: morl-blocks table --results {where}")
        return 0
