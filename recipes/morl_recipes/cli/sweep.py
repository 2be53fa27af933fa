"""``morl-blocks sweep``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from morl_recipes.cli.given import SweepFlags, given
from morl_recipes.cli.signals import terminable
from morl_recipes.cli.words import (
    Changes,
    LoggerChoice,
    finish,
    preferences_key,
    seeds_key,
    set_key,
    slug,
    typed,
    work_with,
)

if TYPE_CHECKING:
    from morl_recipes.running.engines.events import Engine

Words = tuple[str, ...]
KEYS = ("rows", "envs", "population")


def _otherwise(text: str, metavar: str | None = None) -> Any:
    """Say what holds without an option, in the place where its default would stand."""
    return tyro.conf.arg(help_behavior_hint=f"(default: {text})", metavar=metavar)


@dataclass(frozen=True)
class Sweep:
    """Train recipes x environments x preferences x seeds, as a TOML file or flags say, on several workers.

    It can be stopped and started again at any time and does only what is missing. Flags replace keys of the file. The
    defaults below are those without a file, or of keys that the file does not have.

    Examples:
      morl-blocks sweep smoke
      morl-blocks sweep paper_baselines --dry-run
      morl-blocks sweep --rows PASTA critic --envs stealth --seeds 0 1 2 --out runs/critics
      morl-blocks sweep paper_ablations --engine ray --address auto
    """

    file: Annotated[Path | None, tyro.conf.Positional, _otherwise("flags alone", "[FILE]")] = None
    """A sweep as TOML: a file, or one that comes along (smoke, paper_baselines, paper_ablations, ...)."""
    rows: Annotated[Words, _otherwise("none; needed without a file")] = ()
    """Rows or groups of `morl-blocks list`, rows of a file (my_rows.py:MyRow), or all."""
    envs: Annotated[Words, _otherwise("stealth")] = ()
    """A list of environments."""
    preferences: Annotated[Words, _otherwise("those of each environment")] = ()
    """A list of preferences, as in 0.1,0.7,0.2 0.8,0.1,0.1"""
    seeds: Annotated[tuple[int, ...], _otherwise("0 1 2 3 4")] = ()
    """A list of seeds: 0 1 2"""
    num_seeds: Annotated[int | None, _otherwise("5", "INT")] = None
    """A number of seeds instead of a list, like `seeds = 3` in a file: 3 is 0 1 2."""
    changes: Changes = ()
    """A change of every recipe by dotted name: --set ppo.learning_rate=1e-4 --set mu.threshold=0.3"""
    settings: Annotated[SweepFlags, tyro.conf.OmitArgPrefixes] = field(default_factory=SweepFlags)
    population: Annotated[int | None, _otherwise("sized to the machine", "INT")] = None
    """Most runs that train together; a sweep keeps the size that it was started with."""
    out: Annotated[Path | None, _otherwise("runs/<name of the file>, or runs/sweep", "PATH")] = None
    """Folder of the results."""
    engine: Literal["local", "ray"] = "local"
    """Worker processes on this machine, or tasks on an existing Ray cluster."""
    workers: Annotated[int | None, _otherwise("one per core", "INT")] = None
    """Worker processes of the local engine."""
    address: str = "auto"
    """The Ray cluster."""
    shared: bool = False
    """The folder is the same on every node of the Ray cluster: a lost population continues from its checkpoint."""
    logger: LoggerChoice = None
    """Also send every number to a TorchRL logger; files go to the folder's logs."""
    retry_failed: bool = False
    """Train failed runs again."""
    accept_versions: bool = False
    """Go on under other versions of PyTorch or of environments than the sweep was begun with."""
    silence: float = 1800.0
    """Seconds without progress after which a worker is taken to hang, and replaced."""
    dry_run: bool = False
    """Show what would be done, and do nothing."""
    quiet: bool = False
    """Show no progress."""

    def run(self, argv: list[str]) -> int:
        """Run what is missing."""
        from morl_recipes.common import checks
        from morl_recipes.running.execute import run_sweep
        from morl_recipes.running.plan import make_plan
        from morl_recipes.running.session import require_device

        if self.workers is not None:
            checks.at_least("workers", self.workers, 1)
        checks.positive("silence", self.silence)
        sweep = self._sweep()
        if self.dry_run:
            from morl_recipes.cli.preview import executed

            for sentence in executed((*sweep.rows, *sweep.envs)):
                print(sentence, flush=True)
        if self.engine == "local":
            require_device(sweep.settings.device)
        plan = make_plan(sweep)
        out = self.out or Path("runs") / (slug(self.file.stem) if self.file is not None else "sweep")
        if self.dry_run:
            from morl_recipes.cli.preview import preview

            print(preview(plan, out, workers=self.workers, engine=self.engine, retry_failed=self.retry_failed))
            return 0
        engine = self._engine()  # first: Ray brings a handler of SIGTERM of its own
        with terminable():
            outcome = run_sweep(
                plan,
                out,
                engine,
                command=typed(argv),
                retry_failed=self.retry_failed,
                accept_versions=self.accept_versions,
                progress=not self.quiet,
                **work_with(self.logger, out, accept_versions=self.accept_versions),
            )
        return finish(outcome)

    def _sweep(self) -> Any:
        from morl_recipes.running.sweep import read_sweep, sweep_from

        keys = {name: value for name in KEYS if (value := getattr(self, name)) not in ((), None)}
        keys |= given(self.settings) | set_key(self.changes)
        keys |= preferences_key(self.preferences) | seeds_key(self.seeds, self.num_seeds)
        return sweep_from(keys) if self.file is None else read_sweep(self.file, **keys)

    def _engine(self) -> Engine:
        from morl_recipes.running.engines.local import LocalEngine
        from morl_recipes.running.engines.ray import RayEngine

        if self.engine == "ray":
            return RayEngine(self.address, shared=self.shared, silence=self.silence)
        return LocalEngine(self.workers, silence=self.silence)
