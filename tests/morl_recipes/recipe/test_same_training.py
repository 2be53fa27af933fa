from dataclasses import replace

import torch

from morl_envs.toy import toy
from morl_recipes import ROWS, train
from morl_recipes.recipe.fields import blocks_of
from tests.morl_recipes.worlds import tiny

NO_DECAY, FIXED = ROWS["controller"]["No Decay"], ROWS["fixed_mu"]["mu=10.0"]


def test_no_decay_and_a_fixed_smoothness_of_ten_train_the_same_bits() -> None:
    first, second = (
        train(
            replace(tiny(), mu=recipe.mu), toy(), [[0.5, 0.5]], seeds=[0], total_steps=192, num_envs=4, progress=False
        )
        for recipe in (NO_DECAY, FIXED)
    )
    for name, tensor in first.runs[0].policy.items():
        assert torch.equal(tensor, second.runs[0].policy[name])
    assert blocks_of(NO_DECAY.to_dict()) == blocks_of(FIXED.to_dict())


def test_all_other_rows_differ() -> None:
    rows = {f"{group}/{name}": recipe for group, rows in ROWS.items() for name, recipe in rows.items()}
    different = {str(blocks_of(recipe.to_dict())) for recipe in rows.values()}
    recipes = {str({slot: block for slot, block in r.to_dict().items() if slot != "ppo"}) for r in rows.values()}
    assert len(different) == len(recipes) - 1
