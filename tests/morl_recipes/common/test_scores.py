"""One entry in one tuple: a score that is added there is everywhere."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from morl_envs.toy import toy
from morl_recipes import Run
from morl_recipes.analysis.report.study_figures import study_figures
from morl_recipes.analysis.results.load import load_results
from morl_recipes.analysis.tables.render import render_table
from morl_recipes.common import scores
from morl_recipes.common.scores import HYPERVOLUME, UTILITY, Score, judge
from morl_recipes.recipe.run import IDENTITY
from morl_recipes.recipe.settings import Settings
from morl_recipes.running.train import train_runs
from morl_recipes.store.frames import load_history, load_runs
from morl_recipes.store.manifest import EnvInfo, Manifest
from morl_recipes.store.store import Store
from tests.morl_recipes.worlds import tiny

WORST = Score("worst", "Worst", "worst objective", lambda returns, _, __: returns.min(-1), digits=1)


def _trained(folder: Path) -> Store:
    planned = Run({}, (0.5, 0.5), 0, "one", "mine", "Mine", "toy", 64)
    settings = Settings(total_steps=64, num_envs=4, test_episodes=3)
    (result,) = train_runs([Run(tiny(), (0.5, 0.5), 0)], toy(), settings, progress=False).runs
    store = Store.create(folder, Manifest("c", {"toy": EnvInfo(("a", "b"), (0.0, 0.0), (16.0, 32.0))}, (planned,)))
    identity = {name: getattr(planned, name) for name in IDENTITY}
    store.write(replace(result, **identity, recipe={}))
    return store


def test_an_added_score_is_in_evaluation_store_frames_tables_and_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scores, "SCORES", (HYPERVOLUME, UTILITY, WORST))
    store = _trained(tmp_path / "store")
    (row,) = load_runs(store).to_dict("records")
    returns = [row["peak_0"], row["peak_1"]]
    assert store.read("one")["peak"]["worst"] == row["peak_worst"] == min(returns)
    assert row["test_peak_worst"] == min(row["test_peak_0"], row["test_peak_1"])
    assert row["test_peak_worst_se"] > 0
    history = load_history(store)
    validated = history.dropna(subset=["return_0"])
    np.testing.assert_allclose(validated["worst"], validated[["return_0", "return_1"]].min(axis=1))
    text = render_table(store, kind="preferences", format="csv")
    assert f"worst_mean,worst_std,{'a_mean'}" in text
    assert "Worst" in render_table(store, kind="preferences")
    results = load_results(store, history=True)
    figures = study_figures(results.studies[0], results.history)
    assert figures["worst_curve"]["all"]["layout"]["yaxis"]["title"]["text"] == "worst objective"
    pytest.importorskip("plotly", reason="the interactive report needs the extra `report`")
    from morl_recipes.analysis.report.page import write_report

    page = write_report(store, tmp_path / "r.html").read_text(encoding="utf-8")
    assert 'data-figure="worst_curve"' in page


def test_a_store_from_before_a_score_has_a_gap_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = _trained(tmp_path / "store")
    monkeypatch.setattr(scores, "SCORES", (HYPERVOLUME, UTILITY, WORST))
    assert load_runs(store)["peak_worst"].isna().all()
    (study,) = load_results(store).studies  # but it follows from the returns
    assert study.score(WORST)[0, 0, 0] == study.returns.min()


def test_less_can_be_better(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cost = Score("cost", "Cost", "cost", lambda returns, _, __: -returns.sum(-1), direction="min")
    monkeypatch.setattr(scores, "SCORES", (cost, HYPERVOLUME, UTILITY))
    fields = _trained(tmp_path / "store")
    history = load_history(fields)
    assert fields.read("one")["peak"]["cost"] == history["cost"].min()


def test_what_cannot_be_judged_is_nan() -> None:
    returns = np.array([[1.0, np.inf], [1.0, 3.0]])
    assert np.isnan(judge(HYPERVOLUME, returns, np.ones(2), None)).all()
    found = judge(UTILITY, returns, np.array([2.0, 2.0]), None)
    assert np.isnan(found[0])
    assert found[1] == 2.0
    assert HYPERVOLUME.sign == 1
