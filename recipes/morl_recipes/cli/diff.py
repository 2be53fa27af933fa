"""``morl-blocks diff``."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from morl_recipes.cli.options import Format, Score
from morl_recipes.common.text import say

Source = Annotated[str, tyro.conf.Positional]


@dataclass(frozen=True)
class Diff:
    """Compare two sets of results row by row: is the second better, worse, or not distinguishable?

    Runs are paired by preference and seed. Results of other seeds are compared by their means.

    Examples:
      morl-blocks diff runs/before runs/after
      morl-blocks diff stealth-200k runs/my_repeat --score peak
    """

    first: Annotated[Source, tyro.conf.arg(metavar="FIRST")]
    """A folder of results, or the name or file of published ones."""
    second: Annotated[Source, tyro.conf.arg(metavar="SECOND")]
    """The results to compare with it."""
    format: Format = "terminal"
    """Output format."""
    score: Score = None

    def run(self, argv: list[str]) -> int:
        """Print the comparison."""
        from morl_recipes.analysis.differences import render_difference

        say(render_difference(self.first, self.second, score=self.score, format=self.format))
        return 0
