"""Code of the user's that stored policies need: it is named on the command line, never followed from a store."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro


@dataclass(frozen=True, kw_only=True)
class OwnCode:
    """Options of commands that play stored policies."""

    env: Annotated[str | None, tyro.conf.arg(metavar="FILE:NAME", help_behavior_hint="(default: as stored)")] = None
    """Its environment, where that is in a file: my_env.py:make_env. No code is run because a store names it."""
    blocks: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="(default: none)")] = None
    """The file that defines its actor, where that is your own: my_rows.py. It is run, like that of --env."""

    def load_blocks(self, folder: Path) -> None:
        """Run the file with the blocks, so that their names are known, and say so when it was edited since."""
        if self.blocks is None:
            return
        from morl_recipes.recipe.user_code import Plugin, named_file
        from morl_recipes.store.store import Store

        file = named_file(str(self.blocks))  # my_rows.py:MyRow, as train takes it, names the file too
        plugin, manifest = Plugin.read(file.path if file is not None else self.blocks), Store.open(folder).manifest
        plugin.load()
        known = {run.plugin for run in manifest.runs} - {""}  # of trainings in Python the file is not known
        if known and plugin.digest not in known:
            print(
                f"morl-blocks: {self.blocks} is not the text that runs of {folder} were trained with; their policies "
                "are played by the networks that it defines now.",
                file=sys.stderr,
            )
