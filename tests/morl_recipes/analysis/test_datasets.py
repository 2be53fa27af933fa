"""From stores to a dataset: finished runs alone, each once, and a file that is whole."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from itertools import product
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
from tests.morl_recipes.conftest import EVERYTHING, Sweep, fill
from tests.refusals import refused, store_refused

Make = Callable[..., Store]
TESTED: dict[str, Any] = {"untested": frozenset()}


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Return a function from a name and the fields of a sweep to a store."""
    return lambda name, **fields: fill(tmp_path / name, Sweep(**{**TESTED, **fields}))


def test_tables_are_those_of_the_store(tmp_path: Path) -> None:
    gaps: dict[str, Any] = {"skip": frozenset({("Linear", 0, 1)}), "fail": frozenset({("Linear", 1, 2)})}
    small = Sweep(env="toy", preferences=((0.5, 0.5),), **TESTED)
    store = fill(tmp_path / "a", Sweep(**TESTED, **gaps), small)
    made = publish([store], "mine", tmp_path)
    cases: Any = product(("summary", "preferences"), (None, "peak", "final"))
    for kind, score in cases:
        text = render_table(made, kind=kind, score=score)
        assert text == render_table(store, kind=kind, score=score)
        assert "Linear: 1 of 6 runs failed (worker lost)" in text
        assert "Linear: 1 of 6 runs are missing: 0.10-0.70-0.20 (seed 1)." in text
    assert made.done.loc[made.done["env"] == "toy", "peak_2"].isna().all()


def test_a_line_per_finished_run_with_everything_about_it(make: Make, tmp_path: Path) -> None:
    store = make("a", fail=frozenset({("Linear", 0, 0)}))
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


def test_the_same_again_changes_nothing_and_the_order_of_stores_does_not_matter(make: Make, tmp_path: Path) -> None:
    first = make("a", methods={"critic": ["Shared Weighted"], "baselines": ["Linear", "PASTA (Ours)"]})
    second = make("b", methods={"baselines": ["Tchebycheff", "PASTA (Ours)"]})
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


def test_runs_that_come_later_fill_the_gaps(make: Make, tmp_path: Path) -> None:
    early = make("a", skip=frozenset({("Linear", 0, 1)}), fail=frozenset({("Linear", 1, 2)}))
    publish([early], "mine", tmp_path)
    made = publish([make("b")], "mine", tmp_path)
    assert len(made.done) == len(made.runs) == 12
    assert not load_results(made).studies[0].gaps
    assert len(publish([early], "mine", tmp_path).done) == 12


def _planned(store: Store, **changes: Any) -> Store:
    """Return a store whose manifest is another."""
    return Store(store.path, replace(store.manifest, **changes))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"untested": None}, r"b: stealth\..* is in .*a with other numbers \(.*: nothing and 2\)"),
        ({"iterations": 5, "methods": {"baselines": ["Linear"]}}, "Linear has 10240 steps, and 40960 in"),
        ({"iterations": 5, "methods": {"x": ["Y"]}}, "stealth was trained for 10240 steps, in .* for 40960"),
        ({"bounds": False}, "stealth has other objectives or bounds than in"),
        ({"training": {"num_envs": 4}}, "b: trained with num_envs 4 instead of 8 in"),
        ({"recipe": {"name": "else"}}, "baselines/Linear has another recipe than in"),
    ],
)
def test_stores_that_do_not_fit_are_refused(make: Make, tmp_path: Path, fields: dict[str, Any], words: str) -> None:
    training, recipe = fields.pop("training", {"num_envs": 8}), fields.pop("recipe", None)
    first, second = _planned(make("a"), training={"num_envs": 8}), _planned(make("b", **fields), training=training)
    if recipe is not None:
        planned = second.manifest.runs
        second = _planned(second, runs=tuple(replace(r, recipe=recipe) if r.method == "Linear" else r for r in planned))
    store_refused(f"{words}.*Publish it under another name; nothing was wr", publish, [first, second], "m", tmp_path)
    assert not (tmp_path / "m.csv").exists()


def test_settings_of_rounding_may_differ(make: Make, tmp_path: Path) -> None:
    publish([_planned(make(name), training={"compile": name == "a", "num_envs": 8}) for name in "ab"], "x", tmp_path)


def test_damage_is_found(make: Make, tmp_path: Path) -> None:
    publish([make("a")], "mine", tmp_path)
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
        store_refused(words, read_dataset, path)
    path.write_bytes(b"\xff\xfe")
    store_refused(r"damaged \(no text", read_dataset, path)


def test_bad_input_raises(make: Make, tmp_path: Path) -> None:
    refused("`stores` must name at least one", publish, [], "mine", tmp_path)
    refused(r"`name` must be 1 to 200 of .*, got '\.\./x'", publish, [], "../x", tmp_path)
    store_refused(r"no finished run yet\. Nothing was written", publish, [make("a", skip=EVERYTHING)], "mine", tmp_path)
    refused("`name` must be a path, got 3", published, 3)
    refused("unknown results 'steelth'", find_dataset, "steelth")
    store_refused("cannot be read", find_dataset, tmp_path / "none.csv")


def test_plan_lists_untrained_rows_as_missing(make: Make, tmp_path: Path) -> None:
    part = make("a", methods={"baselines": ["Linear"]})
    whole = make("b", methods={"baselines": ["PASTA (Ours)", "Linear"], "critic": ["Shared Weighted"]}).manifest
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
    store_refused("no finished run yet", publish, [], "other", tmp_path, plan=whole)
    made = publish([make("c")], "planned", tmp_path, plan=part.manifest, only_planned=True)
    assert set(made.done["method"]) == {run.method for run in made.manifest.runs} == {"Linear"}


def test_curves_stay_without_the_store_and_old_tables_have_none(make: Make, tmp_path: Path) -> None:
    first, second = make("a", skip=frozenset({("Linear", 0, 1)})), make("b")
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
    store_refused(r"curves/mine\.csv: the line of stealth", learning_curves, tmp_path / "mine.csv")
