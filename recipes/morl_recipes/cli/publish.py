"""``morl-blocks publish``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from morl_recipes.common.naming import count

if TYPE_CHECKING:
    from morl_recipes.store.manifest import Manifest


@dataclass(frozen=True)
class Publish:
    """Keep the finished runs of result folders as one file: a line per run, without policies and histories.

    A file of the same name is extended. The same run twice is refused unless its numbers are the same; so are other
    settings, bounds or recipes. ``morl-blocks table --results`` prints what was published.

    Examples:
      morl-blocks publish runs/pasta runs/linear --name stealth-200k --sweep stealth_200k
      morl-blocks publish runs/mine runs/more --name mine --out results
    """

    folders: Annotated[
        tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER...", help_behavior_hint="(required)")
    ]
    """Results of sweeps or trainings, complete or not."""
    name: str
    """Name of the table."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="PATH", help_behavior_hint="(default: that of the package)")] = (
        None
    )
    """Folder of the file."""

    sweep: Annotated[
        str | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="(default: what the folders planned)")
    ] = None
    """A sweep file, or the name of a shipped one, that says what the table shall hold in the end."""

    def run(self, argv: list[str]) -> int:
        """Write the file, and say what is in it."""
        from morl_recipes.analysis.datasets.publish import publish

        if not self.folders:
            raise ValueError("`publish` needs at least one folder of results, got none.")
        made = publish(self.folders, self.name, self.out, plan=self._plan())
        planned = len(made.manifest.runs)
        rows = {(run.env, run.group, run.method) for run in made.manifest.runs}
        print(f"{self.name}: {len(made.done)} of {planned} planned runs, {count(len(rows), 'row')}.")
        where = self.name if self.out is None else self.out / f"{self.name}.csv"
        print(f"Next: morl-blocks table --results {where}")
        return 0

    def _plan(self) -> Manifest | None:
        if self.sweep is None:
            return None
        from morl_recipes.running.plan import make_plan
        from morl_recipes.running.sweep import read_sweep

        return make_plan(read_sweep(self.sweep)).manifest()
