"""The utility of the expected return is followed where its optimum is known; the other methods miss it."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

from benchmarks import _faithful_methods as methods
from benchmarks import _faithful_worlds as worlds
from benchmarks.faithful import Args, judge, main

LEAST, MOST = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=worlds.DOUBLE)
WEIGHTS = worlds.preferences()


def served(achieved: Tensor, best: Tensor) -> int:
    return int(judge(achieved, best, WEIGHTS)["served"])


@pytest.mark.parametrize(("least", "most"), [(LEAST, MOST), tuple(worlds.treasures()[[0, -1]])], ids=["chord", "sea"])
def test_the_closed_form_is_the_best_of_a_fine_grid(least: Tensor, most: Tensor) -> None:
    ask = worlds.utility()
    grid = least + torch.linspace(0, 1, 4001, dtype=worlds.DOUBLE).unsqueeze(-1) * (most - least)
    best = worlds.best_between(least, most, WEIGHTS)
    for point, weights in zip(best, WEIGHTS, strict=True):
        on_grid = ask(grid, weights.expand_as(grid)).max()
        assert 0 <= float(ask(point, weights) - on_grid) < 1e-6


@pytest.mark.parametrize("arms", [worlds.concave_arms(), worlds.coins()], ids=["arms", "coins"])
def test_ser_finds_what_was_asked_and_the_others_do_not(arms: worlds.Arms) -> None:
    best = worlds.best_between(LEAST, MOST, WEIGHTS)
    ser = methods.train_arms(arms, WEIGHTS, methods.of_expectation, steps=300)
    assert served(ser, best) >= 20
    linear = methods.train_arms(arms, WEIGHTS, methods.linear, steps=200)
    off = WEIGHTS[:, 0] != 0.5  # where a linear utility is indifferent
    assert (linear[off].amax(-1) > 0.97).all()
    assert served(linear, best) < 14
    assert served(worlds.best_single(arms, WEIGHTS), best) < 14
    assert served(methods.train_projected(arms, WEIGHTS, steps=100), best) < 5


def test_one_policy_for_all_preferences_its_critic_and_the_command(tmp_path: Path) -> None:
    """Small: on average within 10 % of the best, and the critic's J within 0.1 of what is played."""
    achieved, forecast = methods.train_conditioned(worlds.coins(), WEIGHTS, steps=250)
    found = judge(achieved, worlds.best_between(LEAST, MOST, WEIGHTS), WEIGHTS)
    assert found["mean_regret"] < 0.1
    assert found["correlation"][0] > 0.9
    assert float((achieved - forecast).abs().mean()) < 0.1
    out, picture = tmp_path / "faithful.json", tmp_path / "faithful.png"
    results = main(Args(out=out, picture=picture, preferences=3, steps=20, conditioned_steps=2))
    assert out.is_file()
    assert picture.is_file()
    assert set(results["worlds"]) == {"arms", "coins", "sea"}
