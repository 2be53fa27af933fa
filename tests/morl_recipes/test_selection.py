import pytest

from morl_recipes import PASTA, ROWS
from morl_recipes.selection import select_rows


def test_groups_rows_and_everything() -> None:
    assert len(select_rows(["all"])) == 40
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


def test_unknown_names_come_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"unknown row 'No PCGard'. Nearest: No PCGrad"):
        select_rows(["No PCGard"])
    with pytest.raises(ValueError, match="unknown row 'critic/No Decay'"):
        select_rows(["critic/No Decay"])
