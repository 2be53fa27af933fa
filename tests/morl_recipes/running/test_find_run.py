from collections.abc import Callable

import pytest

from morl_recipes.common.errors import StoreError
from morl_recipes.running.stored_runs import find_run, match_runs
from morl_recipes.store.frames import load_runs
from morl_recipes.store.store import Store
from tests.refusals import refused

RUNS = ["e.baselines.linear.0.20-0.80.s0.aa", "e.ours.linear-vector.0.20-0.80.s0.bb", "e.ours.sum.0.20-0.80.s1.cc"]


@pytest.mark.parametrize(
    ("name", "index"),
    [
        (RUNS[0], 0),
        ("linear", 0),
        ("baselines.linear", 0),
        ("linear-vector", 1),
        ("linear-v", 1),
        ("sum.0.20", 2),
        ("Linear", 0),
        ("baselines/Linear", 0),
        ("(Sum)", 2),
    ],
)
def test_whole_parts_come_before_pieces(name: str, index: int) -> None:
    assert match_runs(name, RUNS) == [RUNS[index]]


def test_a_method_stands_for_all_of_its_runs() -> None:
    seeds = [f"e.baselines.pasta-ours.0.20-0.80.s{seed}.aa" for seed in range(3)]
    for name in ("PASTA", "PASTA (Ours)", "baselines/PASTA (Ours)"):  # as tables and `diff` print it
        assert match_runs(name, [*seeds, *RUNS]) == seeds


def test_of_several_runs_the_best_is_taken(make_store: Callable[..., Store]) -> None:
    store = make_store()
    runs = load_runs(store)
    for name, own in (("LINEAR", runs[runs["method"] == "Linear"]), (None, runs)):
        assert find_run(store, name)["run_id"] == own.sort_values("peak_hv")["run_id"].iloc[-1]


@pytest.mark.parametrize("name", ["Linear", "baselines.linear", None])
def test_damage_is_said_where_nothing_else_has_the_name(make_store: Callable[..., Store], name: str | None) -> None:
    store = make_store()
    for run_id in store.run_ids():
        if name is None or ".linear." in run_id:
            (store.path / "runs" / run_id / "run.json").write_text("{")
    with pytest.raises(StoreError, match=r"run\.json"):
        find_run(store, name)
    if name is not None:
        assert "pasta" in find_run(store)["run_id"]


def test_long_lists_are_cut() -> None:
    many = [f"e.g.m{index}.s0" for index in range(40)]
    with pytest.raises(
        ValueError, match=r"which is part of 40 runs: .* and 35 more \(the folders in FOLDER/runs\)"
    ) as refusal:
        match_runs("s0", many)
    assert len(str(refusal.value)) < 250
    refused(r"unknown run '\?\?'. Known: .* and 35 more", match_runs, "??", many)
    refused(r"unknown run 'e.ours.smu.0.20-0.80'. Nearest: e.ours.sum", match_runs, "e.ours.smu.0.20-0.80", RUNS)
