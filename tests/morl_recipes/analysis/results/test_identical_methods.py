"""Rows that came out the same are found, and only those."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from morl_recipes.analysis.results.load import load_results
from morl_recipes.analysis.results.statistics import identical_methods
from morl_recipes.analysis.results.study import Study
from morl_recipes.store.store import Store

MakeStore = Callable[..., Store]


def like(study: Study, first: int, second: int) -> Study:
    """Give a method the returns of another."""
    returns = study.returns.copy()
    returns[second] = returns[first]
    return replace(study, returns=returns)


def test_rows_with_the_same_returns_are_named_and_those_of_another_run_are_not(
    make_store: MakeStore, sweep_type: Any
) -> None:
    methods = {"pasta": ["PASTA"], "pcgrad": ["No PCGrad"], "kappa": ["kappa = 0.2", "kappa = 0.6"]}
    pcgrad, kappa = load_results(make_store(sweep_type(methods=methods))).studies
    assert identical_methods([pcgrad, kappa]) == []  # PASTA stands in both, with the same runs
    assert identical_methods([pcgrad, like(kappa, 1, 2)]) == [("kappa = 0.2", "kappa = 0.6")]
    across = replace(kappa, returns=kappa.returns.copy())
    across.returns[2] = pcgrad.returns[1]
    assert identical_methods([pcgrad, across]) == [("No PCGrad", "kappa = 0.6")]
    assert identical_methods([pcgrad, replace(across, env="elsewhere")]) == []


def test_one_run_that_differs_is_enough_and_rows_without_runs_are_not_alike(
    make_store: MakeStore, sweep_type: Any
) -> None:
    (study,) = load_results(make_store(sweep_type(methods={"mine": ["PASTA", "A", "B"]}))).studies
    same = like(study, 1, 2)
    assert identical_methods([same]) == [("A", "B")]
    same.returns[2, 0, 0, 0] += 1e-9
    assert identical_methods([same]) == []
    same.returns[1:] = float("nan")
    assert identical_methods([same]) == []
