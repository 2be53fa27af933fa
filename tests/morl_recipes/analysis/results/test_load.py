"""Runs find their cells, and every gap has a sentence."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from morl_recipes import PASTA, ROWS
from morl_recipes.analysis.results.load import load_results
from morl_recipes.analysis.results.study import Study
from morl_recipes.common.scores import UTILITY
from morl_recipes.recipe.run import Run
from morl_recipes.store.manifest import EnvInfo, Manifest
from morl_recipes.store.record import RunRecord
from morl_recipes.store.store import Store
from tests.morl_recipes.conftest import ALL_OF_LINEAR, EVERYTHING, Sweep, fill
from tests.refusals import refused, store_refused

MakeStore = Callable[..., Store]
MakeStudy = Callable[..., Study]


WEIGHTS = (0.2, 0.2, 0.6)


def stored(folder: Path, *runs: Run) -> Store:
    """Write a store of these runs, each better than the one before."""
    infos = {"stealth": EnvInfo(("a", "b", "c"), (0.0,) * 3, (1.0,) * 3)}
    store, history = Store.create(folder, Manifest("c", infos, runs)), pd.DataFrame({"iteration": [1], "steps": [1]})
    for i, run in enumerate(runs):
        level = 0.5 + 0.1 * i
        point = {"iteration": 1, "steps": 1, "returns": (level,) * 3, "hv": level**3, "eu": level}
        store.write(RunRecord(*run.identity, "done", "", 1, point, point, run.recipe, history))
    return store


def copied(store: Store, folder: Path, **changes: Any) -> Store:
    """Move the runs of a store to one with another manifest."""
    made = Store.create(folder, replace(store.manifest, **changes))
    (made.path / "runs").rmdir()
    (store.path / "runs").rename(made.path / "runs")
    return made


def test_a_complete_sweep_has_no_gaps(make_store: MakeStore) -> None:
    store = make_store()
    results = load_results(store, history=True)
    (study,) = results.studies
    final = load_results(store, score="final").studies[0]
    assert (study.hv >= final.hv).all()
    assert (study.hv > final.hv).any()
    assert study.gaps == ()
    assert study.methods == ("PASTA (Ours)", "Linear")
    assert study.hv.shape == (2, 2, 3)
    np.testing.assert_allclose(study.hv, np.prod(study.returns / np.array(study.info.high), axis=-1))
    stored = results.runs.set_index("run_id")
    assert stored.at[study.run_ids[1, 0, 2], "method"] == "Linear"
    assert stored["peak_eu"].to_dict()[study.run_ids[1, 0, 2]] == pytest.approx(study.score(UTILITY)[1, 0, 2])
    assert len(study.histories(results.history)) == 2 * 2 * 3 * 20


def test_the_test_score_counts_where_all_runs_have_it(make_store: MakeStore) -> None:
    store = make_store(untested=frozenset())
    results = load_results(store)
    (study,) = results.studies
    assert results.reading == study.reading == "test"
    assert study.why == ""
    peak = load_results(store, score="peak").studies[0]
    np.testing.assert_allclose(study.returns, 0.9 * peak.returns)
    np.testing.assert_allclose(study.every["peak"], peak.hv)
    np.testing.assert_allclose(peak.every["test"], study.hv)
    assert study.bias == pytest.approx(((peak.hv - study.hv).mean(), study.hv.mean(), 12))
    assert peak.gaps == study.gaps == ()


def test_where_some_runs_have_no_test_score_the_peak_counts_and_says_why(make_store: MakeStore) -> None:
    store = make_store(untested=frozenset({("Linear", 0, 1)}))
    (study,) = load_results(store).studies
    assert study.reading == "peak"
    assert "1 of 12 runs have no test score" in study.why
    (asked,) = load_results(store, score="test").studies
    assert "Linear: 1 of 6 runs have no test score and are left out" in "".join(asked.gaps)
    assert asked.usable.sum() == 11


def test_pasta_is_trained_once_and_stands_in_every_group(make_store: MakeStore) -> None:
    methods = {"pasta": ["PASTA"], "pcgrad": ["No PCGrad"], "kappa": ["kappa = 0.2"], "mine": ["Softplus brake"]}
    results = load_results(make_store(methods=methods))
    assert [study.group for study in results.studies] == ["pcgrad", "kappa", "mine"]
    assert all(study.methods[0] == "PASTA (Ours)" for study in results.studies)
    first, second = (study.hv[0] for study in results.studies[:2])
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"method": "PASTA", "plugin": "a" * 64}, "PASTA of mine"),
        ({"method": "PASTA (Ours)", "plugin": "a" * 64}, "PASTA (Ours) of mine"),
        ({"method": "PASTA", "recipe": {"mu": {"type": "Fixed", "mu": 9.0}}}, "PASTA of mine"),
        ({"method": "Calm brake (Ours)", "recipe": {}, "plugin": "a" * 64}, "Calm brake (Ours)"),
        ({"method": "CR=0.2", "plugin": "a" * 64}, "CR=0.2"),
    ],
)
def test_a_users_row_is_never_shown_as_the_papers_pasta(tmp_path: Path, changes: dict[str, Any], name: str) -> None:
    linear = Run({"name": "Linear"}, WEIGHTS, 0, "linear", "baselines", "Linear", "stealth", 1)
    mine = replace(Run(PASTA.to_dict(), WEIGHTS, 0, "mine", "mine", "x", "stealth", 1), **changes)
    studies = load_results(stored(tmp_path / "s", linear, mine)).studies
    assert [(s.group, s.methods) for s in studies] == [("baselines", ("Linear",)), ("mine", (name,))]


@pytest.mark.parametrize(("trained", "shown"), [("fixed_mu", "controller"), ("controller", "fixed_mu")])
def test_a_row_that_trains_the_same_as_another_is_trained_once_and_shown_twice(
    tmp_path: Path, trained: str, shown: str
) -> None:
    same = {"controller": "No Decay", "fixed_mu": "mu=10.0"}
    others = {"controller": "No Conflict", "fixed_mu": "mu=0.1"}
    rows = [(trained, same[trained]), (trained, others[trained]), (shown, others[shown])]
    plan = [
        Run(ROWS[group][name].to_dict(), WEIGHTS, 0, f"run{i}", group, name, "stealth", 1)
        for i, (group, name) in enumerate(rows)
    ]
    studies = {study.group: study for study in load_results(stored(tmp_path / "s", *plan)).studies}
    assert set(studies) == {trained, shown}
    assert studies[shown].methods.count(same[shown]) == 1
    again = studies[shown].run_ids[studies[shown].methods.index(same[shown])]
    assert again.tolist() == [["run0"]]
    assert same[shown] not in studies[trained].methods
    assert studies[shown].gaps == ()


def test_methods_stand_in_the_order_of_the_paper(make_study: MakeStudy) -> None:
    methods = {"baselines": ["Linear", "Zebra", "Tchebycheff", "PASTA (Ours)"]}
    study = make_study(methods=methods)
    assert study.methods == ("PASTA (Ours)", "Tchebycheff", "Linear", "Zebra")


def test_stored_hypervolumes_of_other_bounds_and_repeated_runs_are_reported(
    make_store: MakeStore, tmp_path: Path
) -> None:
    store = make_store()
    wider = {"stealth": EnvInfo(("a", "b", "c"), (0.0,) * 3, (500.0,) * 3)}
    again = (*store.manifest.runs, replace(store.manifest.runs[0], run_id="copy"))
    (study,) = load_results(copied(store, tmp_path / "other", environments=wider, runs=again)).studies
    text = "12 runs were stored with another hypervolume than the manifest's bounds give; the latter is shown."
    assert text in study.gaps
    assert "1 runs repeat the method, preference and seed of another and are left out." in study.gaps


PASTA_FAILED, NOT_FINITE = frozenset({("PASTA (Ours)", 0, 2)}), "have returns that are not finite and are left out"


@pytest.mark.parametrize(
    ("fields", "common", "gaps"),
    [
        (
            {"skip": frozenset({("Linear", 0, 1), ("Linear", 1, 0)}), "fail": PASTA_FAILED},
            [[True, False, False], [False, True, True]],
            (
                "PASTA (Ours): 1 of 6 runs failed (worker lost): 0.10-0.70-0.20 (seed 2).",
                "Linear: 2 of 6 runs are missing: 0.10-0.70-0.20 (seed 1); 0.33-0.33-0.33 (seed 0).",
            ),
        ),
        # A method without runs is missing, and changes no other.
        ({"skip": ALL_OF_LINEAR}, [[True] * 3] * 2, ("Linear: 6 of 6 runs are missing: all preferences and seeds.",)),
        (
            {"nan": frozenset({("Linear", 1, 1)})},
            [[True] * 3, [True, False, True]],
            (f"Linear: 1 of 6 runs {NOT_FINITE}: 0.33-0.33-0.33 (seed 1).",),
        ),
    ],
)
def test_every_gap_has_a_sentence(make_study: MakeStudy, fields: Any, common: Any, gaps: tuple[str, ...]) -> None:
    study = make_study(**fields)
    assert study.gaps == gaps
    assert study.common.tolist() == common
    assert study.active.tolist() == [True, fields.get("skip") != ALL_OF_LINEAR]
    assert (np.isnan(study.hv) == ~study.usable).all()


def test_an_empty_store_and_bad_arguments_raise(tmp_path: Path) -> None:
    words, untested = "no finished run yet, of 12 planned", fill(tmp_path / "c", Sweep())
    store_refused(rf"{words}\. Nothing to show", load_results, fill(tmp_path / "a", Sweep(skip=EVERYTHING)))
    failed = fill(tmp_path / "b", Sweep(fail=EVERYTHING))
    store_refused(rf"{words} \(12 failed, first: worker lost\)", load_results, failed)
    for score in ("test", "test_final"):
        store_refused(r"no run has a test score\. `morl-blocks test", load_results, untested, score=score)
    refused("`score` must be 'peak', 'test', 'final' or 'test_final', got", load_results, tmp_path, score="best")
    store_refused("not a result store", load_results, tmp_path)
