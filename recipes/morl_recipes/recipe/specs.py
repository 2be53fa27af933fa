"""The kinds of specs for the blocks of :mod:`morl_blocks`, under the blocks' own (or shorter) names."""

from __future__ import annotations

import ast
import inspect
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from torch import nn

from morl_blocks import combiners, critics, ppo, preferences, scalarizers, schedulers
from morl_blocks.scalarizers.base import DEFAULT_UTOPIA
from morl_recipes.recipe.spec import Kind as Kind
from morl_recipes.recipe.spec import Live as Live
from morl_recipes.recipe.spec import Spec as Spec
from morl_recipes.recipe.spec import spec as spec

if TYPE_CHECKING:
    from morl_envs.protocol import TensorEnv

UTOPIA = DEFAULT_UTOPIA["max"]


class Choices(int):
    """A number of discrete actions; a plain number means dimensions of a continuous action."""

    @classmethod
    def of(cls, env: TensorEnv) -> int:
        """Return an environment's number of actions, or the dimensions of a continuous one as a plain number."""
        return env.action_dim if env.num_actions is None else cls(env.num_actions)


def make_actor(observation_dim: int, num_objectives: int, action_dim: int, **options: Any) -> ppo.Actor:
    """Make the actor for the kind of actions: Gaussian in the unit box, or categorical for :class:`Choices`.

    A categorical actor has no standard deviation, so ``log_std`` has no effect on it.
    """
    if not isinstance(action_dim, Choices):
        return ppo.UnitBoxGaussianActor(observation_dim, num_objectives, action_dim, **options)
    options.pop("log_std", None)
    return ppo.CategoricalActor(observation_dim, num_objectives, int(action_dim), **options)


# The spec takes its fields and defaults from the signature.
make_actor.__signature__ = inspect.signature(ppo.UnitBoxGaussianActor)  # type: ignore[attr-defined]


def make_weighted(observation_dim: int, num_objectives: int, critic: nn.Module) -> critics.AttentionWeightedCritic:
    """Wrap a critic, so that its loss is weighted by the attention."""
    return critics.AttentionWeightedCritic(critic)


def make_torchjd(weighting: str = "UPGradWeighting") -> combiners.TorchJD:
    """Make the adapter around an aggregator or weighting of TorchJD, such as ``"CAGradWeighting(c=0.5)"``."""
    try:
        classes = import_module("torchjd.aggregation")
    except ImportError as error:
        raise ValueError("`TorchJD` must find the package torchjd: pip install 'morl-blocks[torchjd]'.") from error
    name, options = _called(weighting)
    if not isinstance(getattr(classes, name, None), type):
        raise ValueError(f"`weighting` must name a class of torchjd.aggregation, got {weighting!r}.")
    try:
        return combiners.TorchJD(getattr(classes, name)(**options))
    except TypeError as error:
        raise ValueError(f"`weighting` must have the arguments of {name}, got {weighting!r} ({error}).") from error


def _called(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``"Name(key=number)"`` into the name and its arguments, without executing anything."""
    with suppress(SyntaxError, ValueError, TypeError):
        call = ast.parse(text, mode="eval").body
        if isinstance(call, ast.Name):
            return call.id, {}
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
            return call.func.id, {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    raise ValueError(f"`weighting` must look like Name or Name(key=number), got {text!r}.")


Fixed = spec(schedulers.Fixed)
LinearDecay = spec(schedulers.LinearDecay)
SelfTuned = spec(schedulers.SelfTuned)
ConflictBraked = spec(schedulers.ConflictBraked, base=LinearDecay())

Linear = spec(scalarizers.Linear)
Tchebycheff = spec(scalarizers.Tchebycheff, utopia=UTOPIA)
SmoothTchebycheff = spec(scalarizers.SmoothTchebycheff, utopia=UTOPIA)
AdaptiveSmoothTchebycheff = spec(scalarizers.AdaptiveSmoothTchebycheff, utopia=UTOPIA)

Vector = spec(ppo.VectorAdvantage, "Vector")
Scalarised = spec(ppo.ScalarisedAdvantage, "Scalarised")
OfEpisode = spec(ppo.EpisodeAdvantage, "OfEpisode")
OfExpectation = spec(ppo.ExpectationAdvantage, "OfExpectation")
VectorOfExpectation = spec(ppo.VectorExpectationAdvantage, "VectorOfExpectation")

Sum = spec(combiners.Sum)
WeightedSum = spec(combiners.WeightedSum)
PCGrad = spec(combiners.PCGrad)
WeightedPCGrad = spec(combiners.WeightedPCGrad)
GroupedPCGrad = spec(combiners.GroupedPCGrad)
TorchJD = spec(make_torchjd, "TorchJD", "combiner")

Shared = spec(critics.SharedCritic, "Shared")
Branched = spec(critics.BranchedCritic, "Branched")
AttentionWeighted = spec(make_weighted, "AttentionWeighted", "critic", critic=Branched())

Actor = spec(make_actor, "Actor", "actor")

ClippedSurrogate = spec(ppo.ClippedSurrogate)

Given = spec(preferences.Given)
Uniform = spec(preferences.Uniform)
Dirichlet = spec(preferences.Dirichlet)
Grid = spec(preferences.Grid)

Indifference = spec(ppo.Indifference)
