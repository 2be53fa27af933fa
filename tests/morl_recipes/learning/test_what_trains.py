"""What users import is what trains: a public block that raises breaks the recipes that name it, and no other."""

from collections.abc import Iterator
from dataclasses import fields
from typing import cast

import pytest

from morl_blocks import combiners, critics, ppo, preferences, scalarizers, schedulers
from morl_recipes import ROWS, Recipe
from morl_recipes.recipe import specs
from morl_recipes.recipe.spec import Spec
from tests.morl_recipes.worlds import runs_of, tiny, trained

CALLED: dict[str, tuple[type, ...]] = {
    "attention": (
        *(scalarizers.Linear, scalarizers.Tchebycheff),
        *(scalarizers.SmoothTchebycheff, scalarizers.AdaptiveSmoothTchebycheff),
    ),
    "step": (schedulers.Fixed, schedulers.LinearDecay, schedulers.ConflictBraked, schedulers.SelfTuned),
    "forward": (
        *(ppo.VectorAdvantage, ppo.ScalarisedAdvantage, ppo.EpisodeAdvantage),
        *(ppo.ExpectationAdvantage, ppo.VectorExpectationAdvantage, ppo.ClippedSurrogate),
        *(critics.SharedCritic, critics.BranchedCritic),
    ),
    "combine": (
        *(combiners.Sum, combiners.WeightedSum),
        *(combiners.PCGrad, combiners.WeightedPCGrad, combiners.TorchJD),
    ),
    "loss": (critics.AttentionWeightedCritic,),
    "log_prob": (ppo.UnitBoxGaussianActor,),
    "draw": (preferences.Uniform,),
}
METHODS = {block: method for method, blocks in CALLED.items() for block in blocks}
BUILDERS = {
    specs.Actor: ppo.UnitBoxGaussianActor,
    specs.AttentionWeighted: critics.AttentionWeightedCritic,
    specs.TorchJD: combiners.TorchJD,
}
SCALARISED = (specs.Scalarised, specs.OfEpisode, specs.OfExpectation)
RECIPES = {recipe.to_json(): recipe for rows in ROWS.values() for recipe in rows.values()}


class RaisedError(Exception):
    """A block was called."""


def named(recipe: Recipe) -> set[type]:
    """Return the classes of the blocks that a recipe names; a scalarised advantage leaves nothing to combine.

    A preference that is given is nobody's to draw.
    """
    scalarised = isinstance(recipe.advantage, Spec) and recipe.advantage.kind in SCALARISED
    slots = [getattr(recipe, f.name) for f in fields(Recipe) if not (scalarised and f.name == "combiner")]
    return {block for slot in slots for block in _blocks(slot)} - {preferences.Given}


def _blocks(value: object) -> Iterator[type]:
    if isinstance(value, Spec):
        yield BUILDERS.get(value.kind, cast("type", value.kind.block))
        for _, argument in value.values:
            yield from _blocks(argument)


def train(recipe: Recipe) -> None:
    trained(runs_of(tiny(recipe, steps_per_iteration=16, epochs=1), 1), 1, total_steps=16, num_envs=2, update="generic")


def test_every_block_of_every_recipe_is_covered() -> None:
    assert set.union(*(named(recipe) for recipe in RECIPES.values())) == set(METHODS)


@pytest.mark.parametrize("block", METHODS, ids=[block.__name__ for block in METHODS])
def test_a_block_that_raises_breaks_exactly_the_recipes_that_name_it(
    block: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    def boom(*args: object, **kwargs: object) -> None:
        raise RaisedError

    monkeypatch.setattr(block, METHODS[block], boom)
    for recipe in RECIPES.values():
        if block in named(recipe):
            with pytest.raises(RaisedError):
                train(recipe)
        else:
            train(recipe)
