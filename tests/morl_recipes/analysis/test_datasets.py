"""From stores to a dataset: finished runs alone, each once, and a file that is whole."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks.curves import learning_curves
from benchmarks.publish import publish, to_text
from morl_recipes.analysis.datasets import find_dataset, published, read_dataset
from morl_recipes.analysis.results.load import load_results
from morl_recipes.analysis.tables.render import render_table
from morl_recipes.common.errors import StoreError
from morl_recipes.store.frames import load_history, load_runs
from morl_recipes.store.store import Store

Fill = Callable[..., Store]
TESTED: dict[str, Any] = {"untested": frozenset()}


@pytest.fixture
def fill(tmp_path: Path, fill_store: Callable[..., Store], sweep_type: Any) -> Fill:
    """Return a function from a name and the fields of a sweep to a store."""
    return lambda name, **fields: fill_store(tmp_path / name, sweep_type(**{**TESTED, **fields}))


@pytest.mark.parametrize("kind", ["summary", "preferences"])
@pytest.mark.parametrize("score", [None, "peak", "final"])
def test_tables_are_those_of_the_store(fill: Fill, tmp_path: Path, kind: Any, score: Any) -> None:
    store = fill("a", skip=frozenset({("Linear", 0, 1)}), fail=frozenset({("Linear", 1, 2)}))
    made = publish([store], "mine", tmp_path)
    text = render_table(made, kind=kind, score=score)
    assert text == render_table(store, kind=kind, score=score)
    assert "Linear: 1 of 6 runs failed (worker lost)" in text
    assert "Linear: 1 of 6 runs are missing: 0.10-0.70-0.20 (seed 1)." in text


def test_a_line_per_finished_run_with_everything_about_it(fill: Fill, tmp_path: Path) -> None:
    store = fill("a", fail=frozenset({("Linear", 0, 0)}))
    publish([store], "mine", tmp_path)
    frame, stored = published(str(tmp_path / "mine.csv")), load_runs(store)
    assert len(frame) == 11
    assert frame.columns.tolist() == [*stored.columns, "seconds", "version", "torch", "commit"]
    both = frame.merge(stored, on="run_id", suffixes=("", "_stored"))
    for name in stored.columns.drop("run_id"):
        mine, other = both[name], both[f"{name}_stored"]
        same = np.isclose(mine, other, rtol=1e-8) if pd.api.types.is_float_dtype(other) else mine == other
        assert same.all(), name
    assert set(frame["version"]) == {metadata.version("morl-blocks")}
    raw = pd.read_csv(tmp_path / "mine.csv", comment="#")
    assert raw["test_peak_hv"].tolist() == frame["test_peak_hv"].tolist()


def test_the_same_again_changes_nothing_and_the_order_of_stores_does_not_matter(fill: Fill, tmp_path: Path) -> None:
    first = fill("a", methods={"critic": ["Shared Weighted"], "baselines": ["Linear", "PASTA (Ours)"]})
    second = fill("b", methods={"baselines": ["Tchebycheff", "PASTA (Ours)"]})
    publish([first, second], "one", tmp_path)
    publish([second], "two", tmp_path)
    publish([first], "two", tmp_path)
    publish([first, second], "two", tmp_path)
    one, two = (published(str(tmp_path / f"{name}.csv")).drop(columns="seconds") for name in ("one", "two"))
    assert one.equals(two)
    before = (tmp_path / "two.csv").read_bytes()
    publish([second, first], "two", tmp_path)
    assert (tmp_path / "two.csv").read_bytes() == before
    made = read_dataset(tmp_path / "two.csv")
    assert made.done["method"].unique().tolist() == ["PASTA (Ours)", "Tchebycheff", "Linear", "Shared Weighted"]
    assert len(made.done) == 24


def test_runs_that_come_later_fill_the_gaps(fill: Fill, tmp_path: Path) -> None:
    early = fill("a", skip=frozenset({("Linear", 0, 1)}), fail=frozenset({("Linear", 1, 2)}))
    publish([early], "mine", tmp_path)
    made = publish([fill("b")], "mine", tmp_path)
    assert len(made.done) == len(made.runs) == 12
    assert not load_results(made).studies[0].gaps
    assert len(publish([early], "mine", tmp_path).done) == 12


def test_the_same_run_with_other_numbers_is_refused(fill: Fill, tmp_path: Path) -> None:
    publish([fill("a")], "mine", tmp_path)
    before = (tmp_path / "mine.csv").read_bytes()
    with pytest.raises(StoreError, match=r"b: stealth\..* is in .*mine\.csv with other numbers \(.*: .* and .*nothing"):
        publish([fill("b", iterations=20, untested=None)], "mine", tmp_path)
    assert (tmp_path / "mine.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"iterations": 5, "methods": {"baselines": ["Linear"]}}, "Linear has 10240 steps, and 40960 in"),
        ({"iterations": 5, "methods": {"x": ["Y"]}}, "stealth was trained for 10240 steps, in .* for 40960"),
        ({"bounds": False}, "stealth has other objectives or bounds than in"),
    ],
)
def test_stores_of_other_steps_or_bounds_raise(fill: Fill, tmp_path: Path, fields: dict[str, Any], words: str) -> None:
    first = fill("a")
    with pytest.raises(StoreError, match=f"{words}.*Publish it under another name; nothing was written"):
        publish([first, fill("b", **fields)], "mine", tmp_path)
    assert not (tmp_path / "mine.csv").exists()


def test_other_settings_are_refused_but_for_those_of_rounding(fill: Fill, tmp_path: Path) -> None:
    first, second = (fill(name) for name in "ab")

    def with_settings(store: Store, **settings: Any) -> Store:
        return Store(store.path, replace(store.manifest, training=settings))

    alike = [with_settings(first, compile=True, num_envs=8), with_settings(second, compile="auto", num_envs=8)]
    publish(alike, "x", tmp_path)
    with pytest.raises(StoreError, match="b: trained with num_envs 4 instead of 8 in"):
        publish([with_settings(first, num_envs=8), with_settings(second, num_envs=4)], "y", tmp_path)


def test_another_recipe_under_the_same_name_is_refused(fill: Fill, tmp_path: Path) -> None:
    first, second = (fill(name) for name in "ab")
    planned = second.manifest.runs
    runs = tuple(replace(run, recipe={"name": "else"}) if run.method == "Linear" else run for run in planned)
    with pytest.raises(StoreError, match="baselines/Linear has another recipe than in"):
        publish([first, Store(second.path, replace(second.manifest, runs=runs))], "mine", tmp_path)


def test_damage_is_found(fill: Fill, tmp_path: Path) -> None:
    publish([fill("a")], "mine", tmp_path)
    path = tmp_path / "mine.csv"
    text = path.read_text()
    for spoilt, words in [
        (text.replace("0.1 0.7 0.2,0,", "0.1 0.7 0.2,7,", 1), "damaged .its digest does not match"),
        (text[:-40], "damaged .its digest"),
        (text.replace('"schema": 1', '"schema": 2', 1), "has layout 2, this version of morl-blocks reads 1"),
        ("a,b\n1,2\n", "not a file of published results"),
        ("", "not a file of published results"),
    ]:
        path.write_text(spoilt)
        with pytest.raises(StoreError, match=words):
            read_dataset(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(StoreError, match=r"damaged \(no text"):
        read_dataset(path)


def test_environments_of_different_sizes_stand_in_one_file(
    tmp_path: Path, fill_store: Callable[..., Store], sweep_type: Any
) -> None:
    small = sweep_type(env="toy", preferences=((0.5, 0.5),), **TESTED)
    store = fill_store(tmp_path / "a", sweep_type(**TESTED), small)
    made = publish([store], "mine", tmp_path)
    assert render_table(made) == render_table(store)
    assert made.done.loc[made.done["env"] == "toy", "peak_2"].isna().all()


def test_bad_input_raises(fill: Fill, tmp_path: Path, sweep_type: Any) -> None:
    with pytest.raises(ValueError, match="`stores` must name at least one"):
        publish([], "mine", tmp_path)
    with pytest.raises(ValueError, match=r"`name` must be 1 to 200 of .*, got '\.\./x'"):
        publish([], "../x", tmp_path)
    everything = frozenset((m, p, s) for m in ("PASTA (Ours)", "Linear") for p in range(2) for s in range(3))
    with pytest.raises(StoreError, match=r"no finished run yet\. Nothing was written"):
        publish([fill("a", skip=everything)], "mine", tmp_path)
    with pytest.raises(ValueError, match="`name` must be a name or a path, got 3"):
        published(3)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="unknown results 'steelth'"):
        find_dataset("steelth")
    with pytest.raises(StoreError, match="cannot be read"):
        find_dataset(tmp_path / "none.csv")


def test_plan_lists_untrained_rows_as_missing(
    fill: Fill, tmp_path: Path, fill_store: Callable[..., Store], sweep_type: Any
) -> None:
    part = fill("a", methods={"baselines": ["Linear"]})
    whole = fill("b", methods={"baselines": ["PASTA (Ours)", "Linear"], "critic": ["Shared Weighted"]}).manifest
    made = publish([part], "mine", tmp_path, plan=whole)
    assert (len(made.done), len(made.manifest.runs)) == (6, 18)
    assert "PASTA (Ours): 6 of 6 runs are missing: all preferences and seeds." in render_table(made)
    elsewhere = replace(whole.runs[0], env="formation", run_id="elsewhere")
    both = {"stealth": whole.environments["stealth"], "formation": whole.environments["stealth"]}
    more = replace(made, manifest=replace(made.manifest, runs=(*made.manifest.runs, elsewhere), environments=both))
    assert "left out here: formation (6 of 19 planned runs are finished)" in render_table(more, width=999)
    assert "formation" in render_table(more, format="csv")
    assert to_text(publish([part], "mine", tmp_path)) == to_text(made)  # the plan stays
    longer = replace(whole, runs=tuple(replace(run, steps=1) for run in whole.runs))
    with pytest.raises(StoreError, match=r"the plan: stealth, baselines/.* has 1 steps, and 40960 in"):
        publish([part], "mine", tmp_path, plan=longer)
    with pytest.raises(StoreError, match="no finished run yet"):
        publish([], "other", tmp_path, plan=whole)


def test_curves_stay_without_the_store_and_old_tables_have_none(fill: Fill, tmp_path: Path) -> None:
    first, second = fill("a", skip=frozenset({("Linear", 0, 1)})), fill("b")
    publish([first], "mine", tmp_path)
    shutil.copy(tmp_path / "mine.csv", tmp_path / "old.csv")
    assert learning_curves(tmp_path / "old.csv").empty
    made = publish([second], "mine", tmp_path)
    curves, history = learning_curves(tmp_path / "mine.csv"), load_history(second).dropna(subset="return_0")
    assert set(curves["run_id"]) == set(made.done["run_id"])
    both = curves.merge(history, on=["run_id", "steps"], suffixes=("", "_stored"), how="outer")
    for name in ("return_0", "return_2", "hv", "eu"):
        np.testing.assert_allclose(both[name], both[f"{name}_stored"], rtol=1e-4, err_msg=name)
    path = tmp_path / "curves" / "mine.csv"
    path.write_text(path.read_text().replace("40960,", "40960 1,", 1))
    with pytest.raises(StoreError, match=r"curves/mine\.csv: the line of stealth"):
        learning_curves(tmp_path / "mine.csv")


def test_only_planned_runs_are_taken(fill: Fill, tmp_path: Path) -> None:
    plan = fill("a", methods={"baselines": ["Linear"]}).manifest
    made = publish([fill("b")], "mine", tmp_path, plan=plan, only_planned=True)
    assert set(made.done["method"]) == {run.method for run in made.manifest.runs} == {"Linear"}
