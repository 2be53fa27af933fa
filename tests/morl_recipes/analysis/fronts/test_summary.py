from dataclasses import replace

import numpy as np
import pytest
from scipy.special import stdtrit  # type: ignore[import-untyped]

from morl_recipes import Front
from morl_recipes.analysis.fronts.summary import reached


def test_the_interval_is_over_seeds_where_there_are_several(conditioned: Front) -> None:
    summary = reached(conditioned)
    assert summary.asked.shape == summary.mean.shape == summary.half.shape == (5, 2)
    assert summary.seeds == 2
    own = np.stack([front.returns[np.argsort(front.asked[:, 0])] for front in map(conditioned.of, (3, 4))])
    assert summary.mean == pytest.approx(own.mean(0))
    assert summary.half == pytest.approx(stdtrit(1, 0.975) * own.std(0, ddof=1) / np.sqrt(2))


def test_the_interval_is_over_episodes_for_one_seed(conditioned: Front, decomposed: Front) -> None:
    one = conditioned.of(3)
    order = np.argsort(one.asked[:, 0])
    assert reached(one).half == pytest.approx(1.96 * one.errors[order])
    assert np.isnan(reached(decomposed).half).all()  # a single episode tells nothing about its spread


def test_preferences_that_differ_by_rounding_are_one(conditioned: Front) -> None:
    shaken = replace(conditioned, asked=conditioned.asked + 1e-12)
    both = replace(conditioned, asked=np.where(conditioned.member[:, None] == 0, conditioned.asked, shaken.asked))
    assert len(reached(both).asked) == 5
