"""Parse the command line: the commands, their help, and the imports of each."""

from importlib import import_module, metadata
from typing import Annotated, Any

import tyro

from morl_recipes.cli.diff import Diff
from morl_recipes.cli.export import Export
from morl_recipes.cli.figures import Figures
from morl_recipes.cli.front import Front
from morl_recipes.cli.listing import List
from morl_recipes.cli.options import require_no_dataset
from morl_recipes.cli.play import Play
from morl_recipes.cli.report import Report
from morl_recipes.cli.signals import defer_signals
from morl_recipes.cli.sweep import Sweep
from morl_recipes.cli.table import Table
from morl_recipes.cli.test import AddTestScores
from morl_recipes.cli.train import Train
from morl_recipes.cli.verify import Verify
from morl_recipes.common.text import say

DESCRIPTION = """\
Train and compare multi-objective policies: PASTA, its baselines and its ablations.

Examples:
  morl-blocks list                              all recipes and environments
  morl-blocks train PASTA --total-steps 20480   one recipe, all preferences of the environment
  morl-blocks sweep smoke                       many recipes, from a file
  morl-blocks front --env deep-sea-treasure-v0  many trade-offs from one training
  morl-blocks table runs/smoke                  the paper's tables, ours beside the paper's
  morl-blocks verify runs/smoke                 check all result files

Exit codes: 0 success, 1 some runs failed or are damaged, 2 a wrong argument or a missing package, 3 results that
cannot be read or written, 70 a bug of morl-blocks, 130 interrupted (Ctrl-C), 143 terminated (SIGTERM).
Help for a command: morl-blocks sweep --help. The version: morl-blocks --version."""

COMMANDS: dict[str, tuple[type, str]] = {
    "list": (List, "morl_recipes"),
    "train": (Train, "morl_recipes.running"),
    "sweep": (Sweep, "morl_recipes.running"),
    "front": (Front, "morl_recipes.running.fronts"),
    "table": (Table, "morl_recipes.analysis.tables"),
    "report": (Report, "morl_recipes.analysis.report"),
    "figures": (Figures, "morl_recipes.analysis.report"),
    "diff": (Diff, "morl_recipes.analysis.differences"),
    "test": (AddTestScores, "morl_recipes.running.test_scores"),
    "verify": (Verify, "morl_recipes.store"),
    "play": (Play, "morl_recipes.running.play"),
    "export": (Export, "morl_recipes.running.export"),
}
"""Each command with the package that is imported before the command runs."""


def parse(argv: list[str]) -> Any:
    """Return the parsed command; help and wrong arguments raise ``SystemExit``."""
    union: Any = None
    for name, (cls, _) in COMMANDS.items():
        lines = (cls.__doc__ or "").strip().splitlines()[: None if name in argv[:1] else 1]
        text = "\n".join(line.removeprefix("    ") for line in lines)
        command: Any = Annotated[cls, tyro.conf.subcommand(name, description=text)]
        union = command if union is None else union | command
    return tyro.cli(
        union,
        prog="morl-blocks",
        description=DESCRIPTION,
        args=argv,
        config=(tyro.conf.OmitSubcommandPrefixes, tyro.conf.FlagCreatePairsOff),
    )


def prepare(argv: list[str]) -> Any:
    """Return the parsed command after importing what it needs; ``--version`` exits like help."""
    if argv == ["--version"]:
        say(f"morl-blocks {metadata.version('morl-blocks')}")
        raise SystemExit(0)
    command = parse(argv)
    with defer_signals():
        import_module(dict(COMMANDS.values()).get(type(command), "morl_recipes"))
    require_no_dataset(getattr(command, "folder", None))
    return command
