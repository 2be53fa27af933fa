from pathlib import Path

import pytest

from morl_recipes.plugins import Plugin, rows_of
from morl_recipes.selection import select_rows

SOURCE = """
from dataclasses import dataclass, replace
from typing import ClassVar
from morl_blocks.schedulers import Fixed
from morl_recipes import PASTA
from morl_recipes.spec import Spec

@dataclass(frozen=True)
class Gentle(Spec):
    block: ClassVar = Fixed
    mu: float = 3.0

MyRow = replace(PASTA, mu=Gentle())
MINE = {f"gentle {mu}": replace(PASTA, mu=Gentle(mu)) for mu in (1.0, 2.0)}
"""


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "my_rows.py"
    path.write_text(SOURCE)
    return path


def test_a_file_gives_a_row_or_a_group(rows: Path) -> None:
    (row,) = select_rows([f"{rows}:MyRow"])
    assert (row.group, row.method) == ("my_rows", "MyRow")
    assert repr(row.recipe.mu) == "Gentle(mu=3.0)"
    assert [row.method for row in select_rows(["my_rows.py:MINE"], rows.parent)] == ["gentle 1.0", "gentle 2.0"]


def test_a_file_runs_once_per_process(rows: Path) -> None:
    assert Plugin.read(rows).load() is Plugin(str(rows), SOURCE).load()


def test_bad_files_are_refused_with_their_name(rows: Path) -> None:
    with pytest.raises(ValueError, match=r"unknown row of .*my_rows.py 'MyRwo'. Nearest: MyRow"):
        select_rows([f"{rows}:MyRwo"])
    with pytest.raises(ValueError, match=r"name a row of the file too, as in my_rows.py:MyRow"):
        select_rows(["my_rows.py"])
    with pytest.raises(ValueError, match=r"none.py: cannot be read \(No such file"):
        select_rows(["none.py:Row"])
    with pytest.raises(ValueError, match=r"x.py: failed to load \(ZeroDivisionError: division by zero\)"):
        rows_of(Plugin("x.py", "1 / 0"), "Row")
    with pytest.raises(ValueError, match="it defines no Recipe"):
        rows_of(Plugin("x.py", "Row = 3"), "Row")
