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


@pytest.mark.parametrize("ends", [(LEAST, MOST), tuple(worlds.treasures()[[0, -1]])], ids=["chord", "sea"])
def test_the_closed_form_is_the_best_of_a_fine_grid(ends: tuple[Tensor, Tensor]) -> None:
    least, most = ends
    ask = worlds.utility()
    grid = least + torch.linspace(0, 1, 4001, dtype=worlds.DOUBLE).unsqueeze(-1) * (most - least)
    best = worlds.best_between(least, most, WEIGHTS)
    for point, weights in zip(best, WEIGHTS, strict=True):
        on_grid = ask(grid, weights.expand_as(grid)).max()
        assert 0 <= float(ask(point, weights) - on_grid) < 1e-6


@pytest.mark.parametrize("arms", [worlds.concave_arms(), worlds.coins()], ids=["arms", "coins"])
def test_no_policy_of_the_arms_is_better_than_the_closed_form(arms: worlds.Arms) -> None:
    ask, best = worlds.utility(), worlds.best_between(LEAST, MOST, WEIGHTS)
    policies = torch.distributions.Dirichlet(torch.full((len(arms.mean),), 0.2, dtype=worlds.DOUBLE)).sample((2000,))
    mean = policies @ arms.mean
    for point, weights in zip(best, WEIGHTS, strict=True):
        assert ask(mean, weights.expand_as(mean)).max() <= ask(point, weights) + 1e-9


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


def test_esr_and_ser_part_by_construction_and_each_method_finds_its_own() -> None:
    even, arms = torch.tensor([[0.5, 0.5]], dtype=worlds.DOUBLE), worlds.coins()
    ser = methods.train_arms(arms, even, methods.of_expectation, steps=300)
    esr = methods.train_arms(arms, even, methods.of_episode, steps=300)
    torch.testing.assert_close(ser, torch.full((1, 2), 0.5, dtype=worlds.DOUBLE), atol=0.02, rtol=0)
    torch.testing.assert_close(esr, torch.full((1, 2), 0.4, dtype=worlds.DOUBLE), atol=0.02, rtol=0)
    torch.testing.assert_close(worlds.best_single(arms, even), torch.full((1, 2), 0.4, dtype=worlds.DOUBLE))


def test_deep_sea_treasure() -> None:
    sea, (least, most) = worlds.sea(), worlds.treasures()[[0, -1]]
    best = worlds.best_between(least, most, WEIGHTS)
    assert served(methods.train_sea(sea, WEIGHTS, "expectation", steps=200), best) >= 20
    linear = methods.train_sea(sea, WEIGHTS, "linear", steps=200)
    assert served(linear, best) < 14
    assert min((linear - end).abs().max(-1).values.min() for end in (least, most)) < 0.01


def test_the_table_is_the_map_of_mo_gymnasium() -> None:
    module = pytest.importorskip("mo_gymnasium.envs.deep_sea_treasure.deep_sea_treasure")
    front = torch.tensor([point.tolist() for point in module.CONCAVE_FRONT], dtype=worlds.DOUBLE)
    ours = worlds.treasures() * torch.tensor([124.0, 18.0]) - torch.tensor([0.0, 19.0])
    torch.testing.assert_close(ours, front)
    for column, (row, value) in worlds.CONCAVE_MAP.items():
        assert module.CONCAVE_MAP[row, column] == value


def test_the_values_of_a_table_are_those_of_played_episodes() -> None:
    """Down from the first state is one step to the smallest treasure."""
    sea = worlds.sea()
    policy = torch.zeros(1, len(sea.following), 4, dtype=worlds.DOUBLE)
    policy[..., 1] = 0.9
    policy[..., 0] = 0.1
    value = methods.judge(sea, policy)[0]
    stay = 0.1 / 0.9  # expected steps that are lost at the surface
    torch.testing.assert_close(value[0, 0], torch.tensor([1 / 124, -(1 + stay) / 18], dtype=worlds.DOUBLE))
    policy = torch.rand(1, len(sea.following), 4, dtype=worlds.DOUBLE).softmax(-1)
    advantage = methods.judge(sea, policy)[1]
    torch.testing.assert_close((policy.unsqueeze(-1) * advantage).sum(2), torch.zeros_like(value))


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
