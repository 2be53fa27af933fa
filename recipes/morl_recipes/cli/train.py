"""``morl-blocks train``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from morl_recipes.cli.options import TRAIN, TrainFlags, default, default_folder
from morl_recipes.cli.training import PlannedTraining

if TYPE_CHECKING:
    from morl_recipes.running.engines.events import Engine
    from morl_recipes.running.plan import Plan


@dataclass(frozen=True)
class Train(PlannedTraining):
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
    settings: Annotated[TrainFlags, tyro.conf.OmitArgPrefixes] = field(default_factory=TrainFlags)
    out: Annotated[Path | None, default("runs/<row>-<env>", "PATH")] = None
    """Folder of the results."""

    def planned(self) -> tuple[Plan, Path, Engine]:
        """Return the plan, its folder, and the engine that trains in this process."""
        from morl_recipes.running.engines.inline import InlineEngine
        from morl_recipes.running.engines.job import require_device
        from morl_recipes.running.plan import make_plan
        from morl_recipes.running.sweep import sweep_from

        keys = asdict(TRAIN) | {"seeds": 1} | self.sweep_keys(self.settings)
        require_device(str(keys.get("device", "cpu")))
        plan = make_plan(sweep_from({"rows": [self.row], "envs": [self.env], **keys}))
        out = self.out or default_folder(self.row, next(iter(plan.environments)))
        return plan, out, InlineEngine()
