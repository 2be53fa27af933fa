"""The table of preference following: the metrics over whole seeds, gaps, and every format."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from morl_blocks.metrics import preference_correlation, preference_regret
from morl_blocks.scalarizers import SmoothTchebycheff
from morl_recipes.analysis.results.load import load_results
from morl_recipes.analysis.results.study import Study
from morl_recipes.analysis.tables import Format, render_table
from morl_recipes.analysis.tables.following import following, following_table
from morl_recipes.store.manifest import EnvInfo
from morl_recipes.store.store import Store

MakeStore = Callable[..., Store]
ASKED = ((0.8, 0.1, 0.1), (0.1, 0.7, 0.2), (0.2, 0.2, 0.6))


@pytest.fixture
def store(make_store: MakeStore, sweep_type: Any) -> Store:
    sweep = sweep_type(methods={"critic": ["PASTA (Ours)"]}, preferences=ASKED, seeds=3, iterations=2)
    return make_store(sweep)


@pytest.fixture
def study(store: Store) -> Study:
    """Return a study whose policies get 100 times what was asked for, and a little noise in the first seed."""
    (found,) = load_results(store).studies
    returns = 100 * np.broadcast_to(np.array(ASKED)[:, None, :], (1, 3, 3, 3)).copy()
    returns[0, :, 0] += np.random.default_rng(0).normal(size=(3, 3))
    return replace(found, returns=returns, info=EnvInfo(found.info.objectives, (0.0,) * 3, (100.0,) * 3))


def test_numbers_are_those_of_the_metrics(study: Study) -> None:
    regret, each, seeds = following(study, 0)
    runs = np.moveaxis(study.returns[0], 1, 0)
    assert seeds == 3
    expected = preference_regret(runs / 100, ASKED, SmoothTchebycheff(0.1))
    assert regret.estimate == pytest.approx(expected.mean())
    assert 0 <= regret.low <= regret.estimate <= regret.high
    for i, interval in enumerate(each):
        assert interval.estimate == pytest.approx(preference_correlation(runs, ASKED)[:, i].mean())
        assert interval.high <= 1


def test_a_seed_that_misses_a_preference_does_not_count(study: Study) -> None:
    returns = study.returns.copy()
    returns[0, 1, 0] = np.nan
    _, each, seeds = following(replace(study, returns=returns), 0)
    assert seeds == 2
    assert [interval.estimate for interval in each] == pytest.approx([1.0] * 3)
    returns[0, 1] = np.nan
    assert following(replace(study, returns=returns), 0)[2] == 0
    assert following_table(replace(study, returns=returns)).rows[0][1].text == "—"


def test_without_bounds_there_is_no_regret_and_a_note(study: Study) -> None:
    table = following_table(replace(study, info=EnvInfo(study.info.objectives)))
    assert table.rows[0][1].text == "—"
    assert table.rows[0][2].text != "—"
    assert any(note.startswith("No regret") for note in table.notes)


@pytest.mark.parametrize("form", get_args(Format))
def test_every_format(store: Store, form: Format) -> None:
    text = render_table(store, format=form, kind="following")
    assert "regret" in text.lower()
    assert "PASTA" in text
