"""``morl-blocks sweep``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from morl_recipes.cli.options import SweepFlags, Words, default, folder_name
from morl_recipes.cli.training import PlannedTraining
from morl_recipes.common import checks
from morl_recipes.common.text import say

if TYPE_CHECKING:
    from morl_recipes.running.engines.events import Engine
    from morl_recipes.running.plan import Plan


@dataclass(frozen=True)
class Sweep(PlannedTraining):
    """Train recipes x environments x preferences x seeds, from a TOML file or options, on several workers.

    It can be stopped and started again at any time and trains only missing runs. Options replace keys of the file. The
    defaults below apply without a file, and to keys that the file does not have.

    Examples:
      morl-blocks sweep smoke
      morl-blocks sweep paper_baselines --dry-run
      morl-blocks sweep --rows PASTA critic --envs stealth --seeds 0 1 2 --out runs/critics
      morl-blocks sweep paper_ablations --engine ray --address auto
    """

    file: Annotated[Path | None, tyro.conf.Positional, default("flags alone", "[FILE]")] = None
    """A sweep as TOML: a file, or one of this package (smoke, paper_baselines, paper_ablations, ...)."""
    rows: Annotated[Words, default("none; needed without a file")] = ()
    """Rows or groups of `morl-blocks list`, rows of a file (my_rows.py:MyRow), or all."""
    envs: Annotated[Words, default("stealth")] = ()
    """A list of environments."""
    seeds: Annotated[tuple[int, ...], default("0 1 2 3 4")] = ()
    """A list of seeds: 0 1 2"""
    num_seeds: Annotated[int | None, default("5", "INT")] = None
    """A number of seeds instead of a list, like `seeds = 3` in a file: 3 is 0 1 2."""
    settings: Annotated[SweepFlags, tyro.conf.OmitArgPrefixes] = field(default_factory=SweepFlags)
    population: Annotated[int | None, default("sized to the machine", "INT")] = None
    """Maximal number of runs that are trained together; a sweep keeps the size that it was started with."""
    out: Annotated[Path | None, default("runs/<name of the file>, or runs/sweep", "PATH")] = None
    """Folder of the results."""
    engine: Literal["local", "ray"] = "local"
    """Worker processes on this machine, or tasks on an existing Ray cluster."""
    workers: Annotated[int | None, default("one per core", "INT")] = None
    """Worker processes of the local engine."""
    address: str = "auto"
    """The Ray cluster; `local` starts one that only this machine can reach."""
    shared: bool = False
    """The folder is the same on every node of the Ray cluster: a lost population continues from its checkpoint."""
    silence: float = 1800.0
    """Seconds without progress after which a worker is replaced."""
    dry_run: bool = False
    """Show a preview and do nothing."""

    def planned(self) -> tuple[Plan, Path, Engine] | None:
        """Return the plan, its folder and the engine, or print a preview."""
        from morl_recipes.running.engines.job import require_device
        from morl_recipes.running.plan import make_plan
        from morl_recipes.running.preview import executed, preview

        if self.workers is not None:
            checks.at_least("workers", self.workers, 1)
        checks.positive("silence", self.silence)
        sweep = self._sweep()
        if self.dry_run:
            for sentence in executed((*sweep.rows, *sweep.envs)):
                say(sentence)
        if self.engine == "local":
            require_device(sweep.settings.device)
        plan = make_plan(sweep)
        out = self.out or Path("runs") / (folder_name(self.file.stem) if self.file is not None else "sweep")
        if self.dry_run:
            say(preview(plan, out, workers=self.workers, engine=self.engine, retry_failed=self.retry_failed))
            return None
        return plan, out, self._engine()

    def _sweep(self) -> Any:
        from morl_recipes.running.sweep import read_sweep, sweep_from

        keys = self.sweep_keys(self.settings)
        for name in ("rows", "envs", "population"):
            if (value := getattr(self, name)) not in ((), None):
                keys[name] = value
        return sweep_from(keys) if self.file is None else read_sweep(self.file, **keys)

    def _engine(self) -> Engine:
        from morl_recipes.running.engines.local import LocalEngine
        from morl_recipes.running.engines.ray import RayEngine

        if self.engine == "ray":
            return RayEngine(self.address, shared=self.shared, silence=self.silence)
        return LocalEngine(self.workers, silence=self.silence)
