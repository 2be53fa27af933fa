from pathlib import Path

import pytest

from morl_envs.plugin import Plugin
from morl_recipes import PASTA, ROWS
from morl_recipes.recipe.selection import explain, name_of, rows_of, select_rows
from morl_recipes.running.plan import make_plan
from morl_recipes.running.sweep import sweep_from
from tests.refusals import refused


def test_groups_rows_and_everything() -> None:
    assert len(select_rows(["all"])) == 60
    assert select_rows(["critic"])[0].method == "PASTA (Ours)"
    (row,) = select_rows(["controller/no decay"])
    assert (row.group, row.method) == ("controller", "No Decay")
    assert row.recipe == ROWS["controller"]["No Decay"]
    assert name_of(ROWS["critic"]["Shared Weighted"]) == ("critic", "Shared Weighted")
    assert name_of(row.recipe) == ("controller", "No Decay")


@pytest.mark.parametrize("name", ["PASTA", "pasta", "PASTA (Ours)", "kappa/kappa = 0.4 (Ours)"])
def test_pasta_has_many_names_and_is_listed_once(name: str) -> None:
    (row,) = select_rows([name])
    assert (row.method, row.recipe) == ("PASTA (Ours)", PASTA)
    rows = select_rows(["Linear", "baselines", "kappa", name])
    assert [row.method for row in rows[:2]] == ["Linear", "PASTA (Ours)"]
    assert len(rows) == 9 + 3


def write(path: Path, mu: float) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        "from dataclasses import replace\nfrom morl_recipes import PASTA\nfrom morl_recipes.recipe.specs import Fixed\n"
        f"MyRow = replace(PASTA, mu=Fixed({mu}))\n"
    )
    return path


def test_two_rows_of_one_name_are_refused_and_one_row_twice_is_one(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a" / "my_rows.py", 1.0), write(tmp_path / "b" / "my_rows.py", 2.0)
    names = [f"{first}:MyRow", f"{second}:MyRow"]
    refused(r"one recipe per name, got two called my_rows/MyRow: .*a/my_rows.py and .*b/", select_rows, names)
    write(second, 1.0)
    assert len(select_rows(names)) == 1
    second.write_text(second.read_text() + "# with another block behind a name, say\n")
    refused("one recipe per name", select_rows, names)


def test_a_file_cannot_join_a_group_of_the_paper_and_unknown_names_come_with_the_nearest(tmp_path: Path) -> None:
    for name in ("ours", "Critic"):
        path = write(tmp_path / f"{name}.py", 1.0)
        refused(rf"not a group of morl-blocks, got .*{name}.py", select_rows, [f"{path}:MyRow"])
    refused(r"unknown row 'No PCGard'. Nearest: No PCGrad", select_rows, ["No PCGard"])
    refused("unknown row 'critic/No Decay'", select_rows, ["critic/No Decay"])


SOURCE = """
from dataclasses import replace
from morl_blocks.schedulers import Fixed
from morl_recipes import PASTA
from morl_recipes.recipe.specs import spec

class Gentle(Fixed):
    def __init__(self, mu: float = 3.0):
        super().__init__(mu)

Gentle = spec(Gentle)
MyRow = replace(PASTA, mu=Gentle())
MINE = {f"gentle {mu}": replace(PASTA, mu=Gentle(mu)) for mu in (1.0, 2.0)}
"""


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "my_rows.py"
    path.write_text(SOURCE)
    return path


def test_a_file_gives_a_row_or_a_group_and_alone_all_that_it_defines(rows: Path) -> None:
    (row,) = select_rows([f"{rows}:MyRow"])
    assert (row.group, row.method, repr(row.recipe.mu)) == ("my_rows", "MyRow", "Gentle(mu=3.0)")
    assert [row.method for row in select_rows([f"{rows}:MINE"])] == ["gentle 1.0", "gentle 2.0"]
    assert Plugin.read(rows).load() is Plugin(str(rows), SOURCE).load()  # a file runs once per process
    assert [row.method for row in select_rows([str(rows)])] == ["MyRow", "gentle 1.0", "gentle 2.0"]
    rows.write_text("from morl_recipes import PASTA, ROWS")
    refused(r"my_rows.py: defines no Recipe", select_rows, [str(rows)])


def test_bad_files_are_refused_with_their_name(rows: Path) -> None:
    refused(r"unknown row of .*my_rows.py 'MyRwo'. Nearest: MyRow", select_rows, [f"{rows}:MyRwo"])
    refused(r"none.py: cannot be read \(No such file", select_rows, ["none.py:Row"])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("\n1 / 0", r"x.py:2: failed to load \(ZeroDivisionError: division by zero\)\.$"),
        ("\n\nclass =", r"x.py:3: failed to load \(SyntaxError: "),
        ("Row = 3", "it defines no Recipe"),
        *((f"import sys\nsys.exit({status})", r"x.py:2: failed to load \(SystemExit: ") for status in ("0", "1", "")),
    ],
)
def test_file_that_fails_or_exits_is_an_error(source: str, message: str) -> None:
    refused(message, rows_of, Plugin("x.py", source), "Row")


def test_a_file_that_needs_its_neighbour_is_told_why(rows: Path) -> None:
    (rows.parent / "helper_of_mine.py").write_text("Z = 3")
    rows.write_text("from helper_of_mine import Z")
    message = r"my_rows.py:1: .*helper_of_mine.*Only the file itself travels with a sweep"
    refused(message, Plugin.read(rows).load)
    refused(r"No module named 'nowhere_at_all'\)\.$", Plugin(str(rows), "import nowhere_at_all").load)


def test_errors_are_placed_in_the_users_file(rows: Path) -> None:
    rows.write_text("def weigh():\n    return int('x')\n")
    plugin = Plugin.read(rows)
    with pytest.raises(ValueError, match="invalid literal") as caught:
        plugin.load().weigh()
    assert explain(caught.value, [plugin]) == f"ValueError: {caught.value} ({rows}:2)"
    assert explain(KeyError("x"), [plugin]) == "KeyError: 'x'"


def test_another_text_makes_other_runs(rows: Path) -> None:
    def ids() -> list[str]:
        keys = {"rows": [f"{rows}:Plain"], "envs": ["deep-sea-treasure-v0"], "seeds": 1}
        return [run.run_id for run in make_plan(sweep_from(keys)).runs]

    rows.write_text("from morl_recipes import PASTA as Plain")
    before = ids()
    assert ids() == before
    rows.write_text("from morl_recipes import PASTA as Plain  # with another block behind a name, say")
    assert ids() != before
