"""Every command on the pages can be typed as it stands: its flags exist, and so do its rows, sweeps and tables."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from morl_recipes.analysis.datasets import find_dataset
from morl_recipes.cli.parser import parse
from morl_recipes.cli.sweep import Sweep
from morl_recipes.cli.table import Table
from morl_recipes.cli.train import Train
from morl_recipes.recipe.selection import select_rows
from morl_recipes.running.sweep import read_sweep

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
TYPED = re.compile(r"^(?:\$ )?(?:\w+=\S+ )?morl-blocks (.+)$", re.MULTILINE)
FENCED = re.compile(r"^```(?:console|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        if "_build" not in page.parts:
            for block in FENCED.finditer(page.read_text()):
                for typed in TYPED.finditer(block.group(1)):
                    yield str(page.relative_to(ROOT)), typed.group(1)


ALL = sorted(set(commands()))
assert len(ALL) > 50


@pytest.mark.parametrize(("page", "typed"), ALL)
def test_a_command_can_be_typed(page: str, typed: str) -> None:
    command = parse([word for word in shlex.split(typed, comments=True) if word != ">" and not word.endswith(".tex")])
    rows = [command.row] if isinstance(command, Train) else command.rows if isinstance(command, Sweep) else []
    for row in rows:
        assert ".py:" in row or select_rows([row]), f"{page}: {row}"
    if isinstance(command, Sweep) and command.file is not None:
        assert read_sweep(str(command.file)).rows
    if isinstance(command, Table) and command.results is not None and "/" not in command.results:
        assert find_dataset(command.results)
