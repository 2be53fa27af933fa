import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from morl_blocks import combiners, schedulers
from morl_blocks.ppo import UnitBoxGaussianActor
from morl_envs.toy import toy
from morl_recipes import PASTA, ROWS, train
from morl_recipes.recipe.fields import (
    blocks_of,
    change_recipe,
    describe_recipe,
    described_actor,
    digest_of,
    parse_changes,
)
from morl_recipes.recipe.policy_network import require_known
from morl_recipes.recipe.spec import as_spec
from morl_recipes.recipe.specs import Actor, ConflictBraked, Dirichlet, Fixed, LinearDecay, Sum
from tests.morl_recipes.worlds import tiny
from tests.refusals import refused


def test_changes_reach_any_depth() -> None:
    texts = ["ppo.epochs=3", "mu.base.start=5", "combiner=Sum", "ppo.normalize_targets=true"]
    changed = change_recipe(PASTA, parse_changes(texts))
    assert (changed.ppo.epochs, changed.ppo.normalize_targets, changed.combiner) == (3, True, Sum())
    assert changed.mu == ConflictBraked(base=LinearDecay(start=5.0))
    assert change_recipe(PASTA, {}) is PASTA


def test_a_slot_can_be_emptied_and_filled_also_one_that_files_leave_out() -> None:
    filled = change_recipe(ROWS["baselines"]["Linear"], {"mu": "Fixed"})
    assert filled.mu == Fixed()
    assert change_recipe(filled, {"mu": "none"}).mu is None
    drawn = change_recipe(PASTA, {"preferences": "Dirichlet"})
    assert change_recipe(drawn, {"preferences.alpha": 0.5}).preferences == Dirichlet(0.5)
    assert change_recipe(drawn, {"preferences": "Given"}) == PASTA


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ppo.learning_rat": 1}, "unknown part of the recipe 'ppo.learning_rat'. Nearest: ppo.learning_rate"),
        ({"ppo.epochs.x": 1}, "unknown part of the recipe 'ppo.epochs.x'. Nearest: ppo.epochs"),
        ({"mu.type": "Fixed"}, "unknown part of the recipe 'mu.type'"),
        ({"ppo.epochs": 2.5}, "`ppo.epochs` must be a whole number >= 0, got 2.5"),
        ({"ppo.clip": "wide"}, "`ppo.clip` must be a number, got 'wide'"),
        ({"ppo.normalize_targets": 1}, "`ppo.normalize_targets` must be true or false, got 1"),
        ({"scalarizer.attention": 1}, "`scalarizer.attention` must be a word, got 1"),
        ({"combiner": 3}, "`combiner` must be the name of a spec, got 3"),
    ],
)
def test_bad_changes_are_named(changes: dict[str, Any], message: str) -> None:
    refused(message, change_recipe, PASTA, changes)
    refused(r"`set` must be a name and a value, such as .*, got 'ppo.epochs'", parse_changes, ["ppo.epochs"])


def test_live_modules_are_described_by_their_text_and_their_digests() -> None:
    live = replace(PASTA, mu=as_spec(schedulers.Fixed(2.0)))
    assert "Live(module=Fixed" in describe_recipe(live)["text"]
    assert describe_recipe(live)["live"] == {"mu": digest_of(schedulers.Fixed(2.0))}
    assert describe_recipe(PASTA) == PASTA.to_dict()
    inside = schedulers.LinearDecay(5.0)
    assert describe_recipe(replace(PASTA, mu=ConflictBraked(base=inside)))["live"] == {"mu.base": digest_of(inside)}


def test_a_description_names_its_actor_beside_live_modules() -> None:
    recipe = replace(PASTA, actor=Actor(depth=3, activation="ReLU"))
    live = replace(recipe, mu=as_spec(schedulers.Fixed(2.0)))
    assert described_actor(describe_recipe(live)) == recipe.actor
    assert described_actor(describe_recipe(recipe)) == recipe.actor
    assert described_actor({"ppo": {"hidden": 32}}) is None  # of version 0.1
    assert described_actor({"text": "Recipe(...)"}) == {"text": "a recipe that does not tell it"}
    for actor, words in ((UnitBoxGaussianActor(4, 2, 2), "a live UnitBox"), (Actor(activation=Mine), "Actor(hidden")):
        own = described_actor(describe_recipe(replace(live, actor=as_spec(actor))))
        assert isinstance(own, dict)
        assert own["text"].startswith(words)
        message = f"`actor` must be a spec to be played from a file, .*, got {re.escape(words)}"
        refused(message, require_known, own)


class Mine(nn.Module):
    """An activation of a user's own."""


NO_DECAY, FIXED = ROWS["controller"]["No Decay"], ROWS["fixed_mu"]["mu=10.0"]


def test_no_decay_and_a_fixed_smoothness_of_ten_train_the_same_bits() -> None:
    how: dict[str, Any] = {"seeds": [0], "total_steps": 192, "num_envs": 4, "progress": False}
    first, second = (train(replace(tiny(), mu=one.mu), toy(), [[0.5, 0.5]], **how).runs[0] for one in (NO_DECAY, FIXED))
    assert all(torch.equal(tensor, second.policy[name]) for name, tensor in first.policy.items())
    assert blocks_of(NO_DECAY.to_dict()) == blocks_of(FIXED.to_dict())


def test_all_other_rows_differ() -> None:
    rows = {f"{group}/{name}": recipe for group, rows in ROWS.items() for name, recipe in rows.items()}
    different = {str(blocks_of(recipe.to_dict())) for recipe in rows.values()}
    recipes = {str({slot: block for slot, block in r.to_dict().items() if slot != "ppo"}) for r in rows.values()}
    assert len(different) == len(recipes) - 1


class Holder(nn.Module):
    """Keep anything as an attribute."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Number:
    def __init__(self, number: float) -> None:
        self.number = number


def _linear(seed: int) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Linear(2, 2)


def _weighting(share: float) -> nn.Module:
    from torchjd.aggregation import UPGradWeighting

    return combiners.TorchJD(UPGradWeighting(pref_vector=torch.tensor([share, 1 - share])))


@pytest.mark.parametrize(
    ("make", "one", "other"),
    [
        (schedulers.Fixed, 1.0, 2.0),
        (schedulers.LinearDecay, 5.0, 6.0),  # its numbers are in no state dict
        (lambda base: schedulers.ConflictBraked(schedulers.LinearDecay(base)), 5.0, 6.0),
        (lambda pairing: combiners.PCGrad(pairing=pairing), "index", "position"),
        (_linear, 0, 1),
        (_weighting, 0.5, 0.25),
        (Holder, 1, 1.0),
        (Holder, "a", "b"),
        (Holder, (1, None), (1, 2)),
        (Holder, {"a": [1]}, {"a": [2]}),
        (Holder, frozenset("ab"), frozenset("abc")),
        (Holder, np.arange(2), np.arange(1, 3)),
        (Holder, torch.zeros(2, dtype=torch.bfloat16), torch.ones(2, dtype=torch.bfloat16)),
        (Holder, torch.relu, torch.tanh),
        (lambda number: Holder(Number(number)), 1, 2),
    ],
)
def test_a_digest_follows_from_the_numbers(make: Callable[[Any], nn.Module], one: Any, other: Any) -> None:
    assert digest_of(make(one)) == digest_of(make(one))
    assert digest_of(make(one)) != digest_of(make(other))


def test_class_mode_and_frozen_parameters_count_and_a_circle_ends() -> None:
    assert len({digest_of(one) for one in (combiners.Sum(), combiners.Sum().eval(), combiners.PCGrad())}) == 3
    assert digest_of(_linear(0)) != digest_of(_linear(0).requires_grad_(requires_grad=False))
    circle: list[Any] = [1]
    circle.append(circle)
    assert digest_of(Holder(circle)) == digest_of(Holder(circle))
