"""PPO that keeps the objectives separate until the combiner: estimators, normaliser, advantages, actors and losses.

The modules for TorchRL's loops (``VectorGAE``, ``VectorClipPPOLoss`` and the policies) are loaded on first use; the
rest needs only PyTorch.
"""

from typing import TYPE_CHECKING

from morl_blocks._extras import lazy
from morl_blocks.ppo.actors import Actor, CategoricalActor, UnitBoxGaussianActor
from morl_blocks.ppo.advantage import (
    AdvantageForm,
    EpisodeAdvantage,
    Estimate,
    ScalarisedAdvantage,
    VectorAdvantage,
    scalarised_advantage,
    vector_advantage,
)
from morl_blocks.ppo.diagnostics import approximate_kl, clip_fraction, explained_variance
from morl_blocks.ppo.distributions import (
    categorical_entropy,
    categorical_kl,
    categorical_log_prob,
    categorical_sample,
    gaussian_entropy,
    gaussian_kl,
    gaussian_log_prob,
    gaussian_sample,
    unit_box_to_action,
)
from morl_blocks.ppo.expectation import ExpectationAdvantage, VectorExpectationAdvantage, expectation_advantage
from morl_blocks.ppo.expected_return import ExpectedReturn, initial_values, utility_weights
from morl_blocks.ppo.jacobian import Combined, combine_gradients, objective_jacobian
from morl_blocks.ppo.normalizer import ReturnNormalizer, normalize, update_bounds
from morl_blocks.ppo.penalty import ActorPenalty, Indifference, indifference
from morl_blocks.ppo.scan import vector_gae
from morl_blocks.ppo.surrogate import ClippedSurrogate, ObjectiveLoss, clipped_objectives, probability_ratio

if TYPE_CHECKING:
    from morl_blocks.ppo.gae import VectorGAE
    from morl_blocks.ppo.loss import VectorClipPPOLoss
    from morl_blocks.ppo.policies import CategoricalPolicy, UnitBoxPolicy

__all__ = [
    "Actor",
    "ActorPenalty",
    "AdvantageForm",
    "CategoricalActor",
    "CategoricalPolicy",
    "ClippedSurrogate",
    "Combined",
    "EpisodeAdvantage",
    "Estimate",
    "ExpectationAdvantage",
    "ExpectedReturn",
    "Indifference",
    "ObjectiveLoss",
    "ReturnNormalizer",
    "ScalarisedAdvantage",
    "UnitBoxGaussianActor",
    "UnitBoxPolicy",
    "VectorAdvantage",
    "VectorClipPPOLoss",
    "VectorExpectationAdvantage",
    "VectorGAE",
    "approximate_kl",
    "categorical_entropy",
    "categorical_kl",
    "categorical_log_prob",
    "categorical_sample",
    "clip_fraction",
    "clipped_objectives",
    "combine_gradients",
    "expectation_advantage",
    "explained_variance",
    "gaussian_entropy",
    "gaussian_kl",
    "gaussian_log_prob",
    "gaussian_sample",
    "indifference",
    "initial_values",
    "normalize",
    "objective_jacobian",
    "probability_ratio",
    "scalarised_advantage",
    "unit_box_to_action",
    "update_bounds",
    "utility_weights",
    "vector_advantage",
    "vector_gae",
]

_HOME = {"VectorGAE": "gae", "VectorClipPPOLoss": "loss", "CategoricalPolicy": "policies", "UnitBoxPolicy": "policies"}


__getattr__ = lazy(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
