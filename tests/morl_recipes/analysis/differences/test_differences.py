"""Two sets of results row by row, paired where they share seeds."""

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from benchmarks.publish import publish
from morl_blocks.metrics import compare
from morl_recipes.analysis.datasets import Dataset
from morl_recipes.analysis.differences import compare_results, render_difference
from morl_recipes.analysis.results.load import load_results
from morl_recipes.cli import main
from morl_recipes.store.store import Store
from tests.morl_recipes.conftest import Sweep, fill
from tests.refusals import store_refused

Fill = Callable[..., Store]


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    """PASTA and Linear on two preferences and five seeds, with tests."""
    store = fill(tmp_path / "a", Sweep(seeds=5, untested=frozenset()))
    return publish([store], "a", tmp_path)


def _moved(data: Dataset, by: float, seeds: int = 0, noise: float = 0.0) -> Dataset:
    """The same runs with every return multiplied, and other seeds."""
    factors = by + noise * np.random.default_rng(1).normal(size=len(data.runs))
    returns = {f"test_peak_{i}": data.runs[f"test_peak_{i}"] * factors for i in range(3)}
    runs = data.runs.assign(seed=data.runs["seed"] + seeds, **returns)
    planned = tuple(replace(run, seed=run.seed + seeds) for run in data.manifest.runs)
    return replace(data, runs=runs, manifest=replace(data.manifest, runs=planned))


def _values(data: Dataset, method: str) -> Any:
    (study,) = load_results(data).studies
    return study.hv[study.methods.index(method)]


def test_the_same_runs_are_the_same(data: Dataset) -> None:
    rows = compare_results(*map(load_results, (data, data)))
    assert [(row.method, row.verdict, row.how, row.runs) for row in rows] == [
        ("PASTA (Ours)", "same", "same runs", (10, 10, 10)),
        ("Linear", "same", "same runs", (10, 10, 10)),
    ]


@pytest.mark.parametrize(("by", "verdict"), [(1.1, "better"), (0.9, "worse")])
def test_runs_are_paired_by_preference_and_seed(data: Dataset, by: float, verdict: str) -> None:
    other = _moved(data, by, noise=0.01)
    rows = compare_results(*map(load_results, (data, other)))
    for row in rows:
        expected = compare(_values(other, row.method), _values(data, row.method)).difference
        assert row.how == "paired"
        assert row.difference == pytest.approx(expected)
        assert row.verdict == verdict


def test_other_seeds_are_compared_by_welchs_interval(data: Dataset) -> None:
    other = _moved(data, 1.0, seeds=100, noise=0.02)
    for row in compare_results(*map(load_results, (data, other))):
        ours, theirs = (_values(one, row.method).mean(0) for one in (data, other))  # a seed is one draw
        test = stats.ttest_ind(theirs, ours, equal_var=False)
        assert (row.how, row.runs, row.verdict) == ("other seeds", (10, 10, 0), "not distinguishable")
        assert row.difference.estimate == pytest.approx(theirs.mean() - ours.mean())
        wide = stats.t.ppf(0.975, math.floor(test.df)) * (row.difference.estimate / test.statistic)
        assert row.difference.high - row.difference.estimate == pytest.approx(wide)


def test_one_seed_gives_no_interval(data: Dataset) -> None:
    few = replace(data, runs=data.runs[data.runs["seed"] == 0].reset_index(drop=True))
    for row in compare_results(*map(load_results, (data, _moved(few, 1.2)))):
        assert (row.how, row.verdict) == ("too few", "")
        assert math.isnan(row.difference.low)
        assert row.difference.estimate > 0


def test_pasta_stands_once_and_rows_of_one_side_are_left_out(tmp_path: Path, data: Dataset) -> None:
    groups = {"baselines": ["PASTA (Ours)", "Linear"], "pcgrad": ["PASTA (Ours)", "No PCGrad"]}
    both = fill(tmp_path / "b", Sweep(methods=groups, seeds=5, untested=frozenset()))
    names = [row.method for row in compare_results(*map(load_results, (both, both)))]
    assert sorted(names) == ["Linear", "No PCGrad", "PASTA (Ours)", "PASTA (Ours)"]  # trained twice here, in two groups
    assert [row.method for row in compare_results(load_results(both), load_results(data))] == ["PASTA (Ours)", "Linear"]


def _csv(text: str) -> Sequence[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_command_takes_folders_and_files(tmp_path: Path, data: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = str(tmp_path / "a"), str(tmp_path / "a.csv")
    assert main(["diff", first, second, "--format", "csv"]) == 0
    assert {row["verdict"] for row in _csv(capsys.readouterr().out)} == {"same"}
    assert main(["diff", first, second, "--score", "final"]) == 0
    text = capsys.readouterr().out
    assert "stealth, HV: first" in text
    assert "Scores are last validations." in text
    assert main(["diff", first, "nobody"]) == 3
    assert "nobody: neither a folder of results nor published ones" in capsys.readouterr().err


def test_runs_that_are_left_out_are_named(tmp_path: Path) -> None:
    stores = [fill(tmp_path / name, Sweep(seeds=5, untested=frozenset())) for name in "ab"]
    lost = next(run_id for run_id in stores[1].run_ids() if "linear" in run_id)
    (stores[1].path / "runs" / lost / "run.json").write_text("{")
    text = render_difference(stores[0].path, stores[1].path)
    assert "Second, Linear: 1 of 10 runs are damaged and left out" in text
    assert "First, " not in text


def test_nothing_in_common_is_an_error(tmp_path: Path, data: Dataset) -> None:
    fill(tmp_path / "b", Sweep(methods={"mine": ["Mine"]}))
    message = r"have no row in common.*: stealth, PASTA.* in one; .*, Mine in the other"
    store_refused(message, render_difference, tmp_path / "a", tmp_path / "b")


def test_intervals_of_utilities_are_not_cut_to_those_of_hypervolumes(data: Dataset) -> None:
    unbounded = {name: replace(info, low=None, high=None) for name, info in data.manifest.environments.items()}
    data = replace(data, manifest=replace(data.manifest, environments=unbounded))
    for row in compare_results(*map(load_results, (data, _moved(data, 1.1, noise=0.01)))):
        assert row.score == "eu"
        for mean in (row.first, row.second):
            assert mean.low <= mean.estimate <= mean.high
            assert mean.estimate > 1
