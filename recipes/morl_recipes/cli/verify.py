"""``morl-blocks verify``."""

from dataclasses import dataclass

from morl_recipes.cli.options import Folder
from morl_recipes.common.text import for_terminal, say


@dataclass(frozen=True)
class Verify:
    """Check that every file of a store is undamaged, belongs to its run and has compatible versions. Changes nothing.

    Examples:
      morl-blocks verify runs/smoke
    """

    folder: Folder
    """Results of a sweep or a training, complete or not."""

    def run(self, argv: list[str]) -> int:
        """Print each problem with advice; the exit code is 1 if there is one."""
        from morl_recipes.store.verify import verify

        made = verify(self.folder)
        for finding in made.findings:
            say(for_terminal(str(finding)))
        number = len(made.findings)
        if not number:
            say(f"{made.path}: {made.there} of {made.planned} runs are there, and all of them are whole.")
            return 0
        say(f"{made.path}: {made.there} of {made.planned} runs are there. Findings: {number}. Nothing was changed.")
        return 1
