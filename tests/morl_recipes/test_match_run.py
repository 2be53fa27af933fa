import pytest

from morl_recipes.saved_policy import match_run

RUNS = ["e.baselines.linear.0.20-0.80.s0.aa", "e.ours.linear-vector.0.20-0.80.s0.bb", "e.ours.sum.0.20-0.80.s1.cc"]


@pytest.mark.parametrize(
    ("name", "index"),
    [(RUNS[0], 0), ("linear", 0), ("baselines.linear", 0), ("linear-vector", 1), ("linear-v", 1), ("sum.0.20", 2)],
)
def test_whole_parts_come_before_pieces(name: str, index: int) -> None:
    assert match_run(name, RUNS) == RUNS[index]


def test_long_lists_are_cut() -> None:
    many = [f"e.g.m{index}.s0" for index in range(40)]
    with pytest.raises(
        ValueError, match=r"which is part of 40: .* and 35 more \(the folders in FOLDER/runs\)"
    ) as refusal:
        match_run("s0", many)
    assert len(str(refusal.value)) < 250
    with pytest.raises(ValueError, match=r"unknown run '\?\?'. Known: .* and 35 more"):
        match_run("??", many)
    with pytest.raises(ValueError, match=r"unknown run 'e.ours.smu.0.20-0.80'. Nearest: e.ours.sum"):
        match_run("e.ours.smu.0.20-0.80", RUNS)
