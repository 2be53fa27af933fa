"""Options of commands that play stored policies with a user's own code. Code named by a store is never run."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from morl_recipes.cli.options import default
from morl_recipes.common.text import say


@dataclass(frozen=True, kw_only=True)
class OwnBlocks:
    """Options for an environment or an actor that the user defines in a file."""

    env: Annotated[str | None, default("as stored", "FILE:NAME")] = None
    """The environment, if a file defines it: my_env.py:make_env. A file that only the store names is not run."""
    blocks: Annotated[Path | None, default("none", "FILE")] = None
    """The file that defines a custom actor: my_rows.py. It is run, like that of --env."""

    def load_blocks(self, folder: Path) -> None:
        """Run the file with the blocks, and warn if its text differs from the text that the runs were trained with."""
        if self.blocks is None:
            return
        from morl_envs.plugin import Plugin, named_file
        from morl_recipes.store.store import Store

        file = named_file(str(self.blocks))  # `train` accepts my_rows.py:MyRow, so this option does too
        plugin, manifest = Plugin.read(file.path if file is not None else self.blocks), Store.open(folder).manifest
        plugin.load()
        known = {run.plugin for run in manifest.runs} - {""}  # empty for trainings from Python
        if known and plugin.digest not in known:
            say(
                f"morl-blocks: {self.blocks} differs from the file that runs of {folder} were trained with; their "
                "policies are played with its current networks.",
                file=sys.stderr,
            )
