import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from morl_blocks.metrics import compare, detectable_difference, probability_of_improvement
from morl_blocks.metrics.arrays import Array
from tests.refusals import refused

pytestmark = pytest.mark.needs("scipy")

scores = arrays(np.float64, (3, 4), elements=st.integers(0, 4).map(float))


@given(scores, scores)
def test_swapping_the_recipes_mirrors_everything(first: Array, second: Array) -> None:
    there, back = compare(first, second), compare(second, first)
    assert there.difference.estimate == pytest.approx(-back.difference.estimate)
    assert there.difference.low == pytest.approx(-back.difference.high)
    assert there.improvement == pytest.approx(1 - back.improvement)
    mirror = {"better": "worse", "worse": "better"}
    assert mirror.get(there.verdict, there.verdict) == back.verdict


@given(scores, scores)
def test_probability_of_improvement_agrees_with_the_definition(first: Array, second: Array) -> None:
    pairs = [1.0 if x > y else 0.5 if x == y else 0.0 for p in range(3) for x in first[p] for y in second[p]]
    assert probability_of_improvement(first, second) == pytest.approx(np.mean(pairs))


def test_verdicts_and_pairing_removes_what_both_recipes_share() -> None:
    noise = np.random.default_rng(0).normal(scale=0.01, size=(8, 5))
    other = np.random.default_rng(1).normal(scale=0.01, size=(8, 5))
    assert compare(0.3 + noise, 0.2 + other).verdict == "better"
    assert compare(0.2 + noise, 0.3 + other).verdict == "worse"
    assert compare(noise, noise).verdict == "not distinguishable"
    gain = compare(100 * noise + 0.1 + np.linspace(0, 0.01, 5), 100 * noise)
    assert gain.difference.low > 0.09
    assert gain.improvement < 1


def test_absent_runs_are_left_out_of_both() -> None:
    first, second = np.array([[0.3, 0.4, np.nan, 0.5]]), np.array([[0.1, 0.3, 9.0, 0.2]])
    there = np.array([[True, True, False, True]])
    assert compare(first, second, present=there) == compare(first[:, [0, 1, 3]], second[:, [0, 1, 3]])


@pytest.mark.parametrize("freedom", [2, 4, 9])
def test_the_detectable_difference_is_seen_in_four_of_five_repeats(freedom: int) -> None:
    generator = np.random.default_rng(5)
    size = freedom + 1
    gap = detectable_difference(1 / np.sqrt(size), freedom)
    trials = gap + generator.normal(size=(2000, 1, size))
    seen = np.mean([compare(trial, np.zeros_like(trial)).verdict == "better" for trial in trials])
    assert seen == pytest.approx(0.8, abs=0.035)
    mine = compare(trials[0], np.zeros_like(trials[0]))
    assert mine.detectable == pytest.approx(detectable_difference(mine.error, freedom))


def test_bad_input_raises() -> None:
    refused("`error` must be finite and >= 0, got -1", detectable_difference, -1.0, 4)
    refused("`freedom` must be a whole number >= 1", detectable_difference, 0.1, 0)
    refused(r"`power` must lie in \(0, 1\), got 1", detectable_difference, 0.1, 4, power=1.0)
    refused(r"`second` must have shape \[1, 2\], like `first`, got shape", compare, [[0.1, 0.2]], [[0.1, 0.2, 0.3]])
    refused("`second` must have the 1 preferences of `first`", probability_of_improvement, [[0.1]], [[0.1], [0.2]])
