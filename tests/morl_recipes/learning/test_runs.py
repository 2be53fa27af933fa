from dataclasses import replace

import numpy as np
import pytest
import torch

from morl_recipes import PASTA, PPO, ROWS, Run, by_batch
from morl_recipes.learning.batch import hyper_parameters
from morl_recipes.recipe.run import check_batch
from tests.refusals import refused

HALF = (0.5, 0.5)


def test_rows_of_one_structure_share_a_batch() -> None:
    groups = {name: by_batch([Run(row, HALF, 0) for row in rows.values()]) for name, rows in ROWS.items()}
    assert [len(group) for group in groups["kappa"]] == [4]
    assert [len(group) for group in groups["rho"]] == [5]
    assert [len(group) for group in groups["fixed_mu"]] == [7]
    assert [len(group) for group in groups["baselines"]] == [1, 8]
    everything = [Run(row, HALF, 0) for name, rows in ROWS.items() if name != "ours" for row in rows.values()]
    assert sum(map(len, by_batch(everything))) == len(everything)


def test_numbers_are_stacked() -> None:
    runs = [Run(replace(PASTA, ppo=PPO(clip=clip)), HALF, 0) for clip in (0.1, 0.3)]
    assert torch.equal(hyper_parameters(runs)["clip"], torch.tensor([0.1, 0.3]))
    assert "epochs" not in hyper_parameters(runs)


@pytest.mark.parametrize(
    ("preference", "seed", "message"),
    [
        ((0.5, 0.6), 0, "`preferences` must sum to 1, got a sum of 1.1"),
        ((1.5, -0.5), 0, "`preferences` must be >= 0"),
        ((float("nan"), 1.0), 0, "`preferences` must be >= 0"),
        (HALF, -1, "`seed` must be a whole number >= 0"),
        (HALF, "1", "`seed` must be a whole number >= 0, got '1'"),
        (0.5, 0, "`preferences` must hold numbers, got 0.5"),
    ],
)
def test_bad_runs_are_named(preference: tuple[float, ...], seed: int, message: str) -> None:
    refused(message, Run, PASTA, preference, seed)


def test_a_recipe_is_needed_and_seeds_become_plain_numbers() -> None:
    refused(r"`recipe` must be a Recipe, such as morl_recipes\.PASTA, got 'PASTA'", Run, "PASTA", HALF, 0)
    assert type(Run(PASTA, HALF, np.int64(3)).seed) is int  # type: ignore[arg-type]


def test_populations_that_cannot_train_together_are_named() -> None:
    first, longer = Run(PASTA, HALF, 0), Run(PASTA, (0.2, 0.3, 0.5), 0)
    other = Run(replace(PASTA, ppo=PPO(epochs=5)), HALF, 0)
    refused("`runs` must hold at least one run, got none", check_batch, [])
    refused("`preferences` must all have the same length, got 2 and 3", check_batch, [first, longer])
    refused("`runs` must differ in scalarizer, mu, .* alone, got 2 different structures", check_batch, [first, other])
    assert len(by_batch([first, longer])) == 2
    check_batch([Run(replace(PASTA, ppo=PPO(gamma=gamma)), HALF, 0) for gamma in (1, 0.99)])
