"""``morl-blocks train`` and ``morl-blocks sweep``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

if TYPE_CHECKING:
    from morl_recipes.sweep import Outcome
    from morl_recipes.sweep.engines import Engine

Words = tuple[str, ...]
SHOWN_FAILURES = 10


@dataclass(frozen=True)
class Train:
    """Train one recipe in this process, one run per preference and seed, all at once.

    Stop it with Ctrl-C and start the same command again: it continues.

    Examples:
      morl-blocks train PASTA
      morl-blocks train "No PCGrad" --preferences 0.1,0.7,0.2 0.8,0.1,0.1 --seeds 0 1 2
      morl-blocks train my_rows.py:MyRow --env frogger --total-steps 1000000
    """

    row: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="ROW")]
    """A row of `morl-blocks list`, or one of a file of yours, as in my_rows.py:MyRow."""
    env: str = "stealth"
    """Environment."""
    preferences: Words = ()
    """Preferences, as in 0.1,0.7,0.2; by default those of the environment."""
    seeds: tuple[int, ...] = (0,)
    """Seeds."""
    total_steps: int = 204_800
    """Environment steps per run."""
    num_envs: int = 8
    """Environments per run."""
    eval_every: int = 10
    """Iterations between validations."""
    eval_episodes: int = 10
    """Episodes per validation."""
    compile: bool = False
    """Fuse the update with torch.compile: faster, after half a minute."""
    out: Path | None = None
    """Folder of the results; by default runs/<row>-<env>."""
    retry_failed: bool = False
    """Train failed runs again."""
    quiet: bool = False
    """Show no progress bar."""

    def run(self, argv: list[str]) -> int:
        """Train."""
        from morl_recipes.sweep import InlineEngine, make_plan, run_sweep, sweep_from

        names = ("seeds", "total_steps", "num_envs", "eval_every", "eval_episodes", "compile")
        keys = {name: getattr(self, name) for name in names} | _preferences(self.preferences)
        plan = make_plan(sweep_from({"rows": [self.row], "envs": [self.env], **keys}))
        out = self.out or Path("runs") / f"{_slug(self.row.rpartition(':')[2])}-{self.env}"
        return _finish(
            run_sweep(
                plan,
                out,
                InlineEngine(),
                command=_typed(argv),
                retry_failed=self.retry_failed,
                progress=not self.quiet,
            )
        )


@dataclass(frozen=True)
class Sweep:
    """Train recipes x environments x preferences x seeds, as a TOML file or flags say, on several workers.

    It can be stopped and started again at any time and does only what is missing. Flags replace keys of the file.

    Examples:
      morl-blocks sweep recipes/smoke.toml
      morl-blocks sweep recipes/paper_baselines.toml --dry-run
      morl-blocks sweep --rows PASTA critic --envs stealth --seeds 0 1 2 --out runs/critics
      morl-blocks sweep recipes/paper_ablations.toml --engine ray --address auto
    """

    file: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="[FILE]")] = None
    """A sweep as TOML; see recipes/*.toml."""
    rows: Words = ()
    """Rows or groups of `morl-blocks list`, rows of a file (my_rows.py:MyRow), or all."""
    envs: Words = ()
    """Environments."""
    preferences: Words = ()
    """Preferences, as in 0.1,0.7,0.2; by default those of each environment."""
    seeds: tuple[int, ...] = ()
    """Seeds."""
    total_steps: int | None = None
    """Environment steps per run."""
    population: int | None = None
    """Most runs that train together; by default sized to the machine."""
    out: Path | None = None
    """Folder of the results; by default runs/<name of the file>."""
    engine: Literal["local", "ray"] = "local"
    """Worker processes on this machine, or tasks on an existing Ray cluster."""
    workers: int | None = None
    """Worker processes of the local engine; by default one per core."""
    address: str = "auto"
    """The Ray cluster."""
    shared: bool = False
    """The folder is the same on every node of the Ray cluster: a lost population continues from its checkpoint."""
    retry_failed: bool = False
    """Train failed runs again."""
    dry_run: bool = False
    """Show what would be done, and do nothing."""
    quiet: bool = False
    """Show no progress bar."""

    def run(self, argv: list[str]) -> int:
        """Run what is missing."""
        from morl_recipes.sweep import make_plan, run_sweep

        plan = make_plan(self._sweep())
        out = self.out or Path("runs") / (_slug(self.file.stem) if self.file is not None else "sweep")
        if self.dry_run:
            from morl_recipes.cli._preview import preview

            print(preview(plan, out, workers=self.workers))
            return 0
        return _finish(
            run_sweep(
                plan,
                out,
                self._engine(),
                command=_typed(argv),
                retry_failed=self.retry_failed,
                progress=not self.quiet,
            )
        )

    def _sweep(self) -> Any:
        from morl_recipes.sweep import read_sweep, sweep_from

        names = ("rows", "envs", "seeds", "total_steps", "population")
        given = {name: value for name in names if (value := getattr(self, name)) not in ((), None)}
        given |= _preferences(self.preferences)
        return sweep_from(given) if self.file is None else read_sweep(self.file, **given)

    def _engine(self) -> Engine:
        from morl_recipes.sweep import LocalEngine, RayEngine

        return RayEngine(self.address, shared=self.shared) if self.engine == "ray" else LocalEngine(self.workers)


def parse_preference(text: str) -> tuple[float, ...]:
    """Read numbers with commas between them.

    Example:
        >>> parse_preference("0.1,0.7,0.2")
        (0.1, 0.7, 0.2)
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"`preferences` must be numbers such as 0.1,0.7,0.2, got {text!r}.") from None


def _preferences(texts: Sequence[str]) -> dict[str, Any]:
    return {"preferences": tuple(parse_preference(text) for text in texts)} if texts else {}


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9._]+", "-", name.lower()).strip("-")


def _typed(argv: list[str]) -> str:
    return shlex.join(["morl-blocks", *argv])


def _finish(outcome: Outcome) -> int:
    """Say what happened and where to go next."""
    planned, failed = len(outcome.store.manifest.runs), outcome.failed
    if not outcome.ran:
        print(f"Nothing to do: {outcome.done} of {planned} runs are done already.")
    else:
        print(f"{len(outcome.ran)} runs trained; {outcome.done} of {planned} are done.")
    for run_id, reason in list(failed.items())[:SHOWN_FAILURES]:
        print(f"  failed: {run_id}: {reason}")
    if failed:
        more = f" ({len(failed) - SHOWN_FAILURES} more are not shown)" if len(failed) > SHOWN_FAILURES else ""
        print(f"{len(failed)} runs failed{more}. To train them again, add --retry-failed")
    if outcome.done:
        print(f"Results: {outcome.store.path}   Next: morl-blocks table {shlex.quote(str(outcome.store.path))}")
    return 1 if failed else 0
