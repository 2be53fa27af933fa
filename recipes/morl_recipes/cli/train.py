"""``morl-blocks train``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from morl_recipes.cli import options
from morl_recipes.cli.options import TRAIN, TrainFlags, Words, default
from morl_recipes.cli.signals import forward_sigterm


@dataclass(frozen=True)
class Train:
    """Train a recipe, or a group of them, in this process: one run per recipe, preference and seed.

    Stop it with Ctrl-C and start the same command again: it continues.

    Examples:
      morl-blocks train PASTA
      morl-blocks train "No PCGrad" --preferences 0.1,0.7,0.2 0.8,0.1,0.1 --seeds 0 1 2
      morl-blocks train my_rows.py:MyRow --env frogger --total-steps 1000000
      morl-blocks train PASTA --env my_env.py:make_env --set ppo.learning_rate=1e-4
    """

    row: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="ROW")]
    """A row or a group of `morl-blocks list`, or of your own file: my_rows.py:MyRow, or my_rows.py for all rows."""
    env: str = "stealth"
    """An environment of `morl-blocks list`, a Gymnasium id with a vector reward, or my_env.py:make_env."""
    preferences: Annotated[Words, default("those of the environment")] = ()
    """A list of preferences, as in 0.1,0.7,0.2 0.8,0.1,0.1"""
    seeds: Annotated[tuple[int, ...], default("0")] = ()
    """A list of seeds: 0 1 2"""
    num_seeds: Annotated[int | None, default("1", "INT")] = None
    """A number of seeds instead of a list: 3 is 0 1 2."""
    changes: options.Changes = ()
    """A change of the recipe by dotted name: --set ppo.learning_rate=1e-4 --set mu.threshold=0.3"""
    settings: Annotated[TrainFlags, tyro.conf.OmitArgPrefixes] = field(default_factory=TrainFlags)
    out: Annotated[Path | None, default("runs/<row>-<env>", "PATH")] = None
    """Folder of the results."""
    logger: options.LoggerChoice = None
    retry_failed: options.RetryFailed = False
    accept_versions: options.AcceptVersions = False
    quiet: options.Quiet = False

    def run(self, argv: list[str]) -> int:
        """Train."""
        from morl_recipes.cli.train_plan import prepare, print_outcome
        from morl_recipes.running.engines.inline import InlineEngine
        from morl_recipes.running.engines.job import require_device
        from morl_recipes.running.execute import execute
        from morl_recipes.running.plan import make_plan
        from morl_recipes.running.sweep import sweep_from

        typed = options.sweep_keys(self.settings, self.preferences, self.seeds, self.num_seeds, self.changes)
        keys = asdict(TRAIN) | {"seeds": 1} | typed
        require_device(str(keys.get("device", "cpu")))
        plan = make_plan(sweep_from({"rows": [self.row], "envs": [self.env], **keys}))
        out = self.out or options.default_folder(self.row, next(iter(plan.environments)))
        with forward_sigterm():
            outcome = execute(*prepare(self, plan, out, InlineEngine(), argv))
        return print_outcome(outcome)
