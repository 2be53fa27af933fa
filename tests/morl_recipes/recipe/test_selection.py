from pathlib import Path

import pytest

from morl_recipes import PASTA, ROWS
from morl_recipes.recipe.selection import select_rows


def test_groups_rows_and_everything() -> None:
    assert len(select_rows(["all"])) == 60
    assert select_rows(["critic"])[0].method == "PASTA (Ours)"
    (row,) = select_rows(["controller/no decay"])
    assert (row.group, row.method) == ("controller", "No Decay")
    assert row.recipe == ROWS["controller"]["No Decay"]


@pytest.mark.parametrize("name", ["PASTA", "pasta", "PASTA (Ours)", "kappa/kappa = 0.4 (Ours)"])
def test_pasta_has_many_names(name: str) -> None:
    (row,) = select_rows([name])
    assert (row.method, row.recipe) == ("PASTA (Ours)", PASTA)


def test_rows_are_listed_once_in_the_order_of_the_names() -> None:
    rows = select_rows(["Linear", "baselines", "kappa"])
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
    with pytest.raises(ValueError, match=r"one recipe per name, got two called my_rows/MyRow: .*a/my_rows.py and .*b/"):
        select_rows([f"{first}:MyRow", f"{second}:MyRow"])
    write(second, 1.0)
    assert len(select_rows([f"{first}:MyRow", f"{second}:MyRow"])) == 1
    second.write_text(second.read_text() + "# with another block behind a name, say\n")
    with pytest.raises(ValueError, match="one recipe per name"):
        select_rows([f"{first}:MyRow", f"{second}:MyRow"])


@pytest.mark.parametrize("name", ["critic", "ours", "Critic"])
def test_a_file_cannot_join_a_group_of_the_paper(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / f"{name}.py", 1.0)
    with pytest.raises(ValueError, match=rf"not called like a group of morl-blocks, got .*{name}.py"):
        select_rows([f"{path}:MyRow"])


def test_unknown_names_come_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"unknown row 'No PCGard'. Nearest: No PCGrad"):
        select_rows(["No PCGard"])
    with pytest.raises(ValueError, match="unknown row 'critic/No Decay'"):
        select_rows(["critic/No Decay"])
