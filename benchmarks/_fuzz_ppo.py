"""Fuzz cases of the PPO pieces, the critics and the transform."""

import functools
from typing import Any

import numpy as np
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule

from benchmarks._fuzz_inputs import Draw
from benchmarks._fuzz_judge import Case, UnreachedError
from morl_blocks import critics, ppo
from morl_blocks.scalarizers import Linear, SmoothTchebycheff
from morl_blocks.transforms import ScalarizeReward


def _rollout(draw: Draw) -> dict[str, Any]:
    shape = (*draw.batch(), int(draw.random.integers(1, 6)), draw.objectives())
    ends = draw.flags(*shape[:-1], 1)
    vectors = {name: draw.normal(*shape) for name in ("reward", "value", "next_value")}
    return {**vectors, "terminated": ends & draw.flags(*ends.shape), "done": ends, "gamma": 0.99, "lmbda": 0.95}


def _gae_oracle(
    reward: Any, value: Any, next_value: Any, terminated: Any, done: Any, gamma: Any, lmbda: Any
) -> tuple[Any, Any]:
    advantage, carry = np.zeros_like(reward), np.zeros_like(reward[..., 0, :])
    gamma, lmbda = (np.broadcast_to(number, reward.shape) for number in (gamma, lmbda))
    for t in reversed(range(reward.shape[-2])):
        alive, going = 1 - terminated[..., t, :], 1 - np.maximum(done, terminated)[..., t, :]
        delta = reward[..., t, :] + gamma[..., t, :] * alive * next_value[..., t, :] - value[..., t, :]
        carry = delta + gamma[..., t, :] * lmbda[..., t, :] * going * carry
        advantage[..., t, :] = carry
    return advantage, (np.abs(reward).max() + np.abs(value).max() + np.abs(next_value).max()) * reward.shape[-2]


def _vector_gae(**arguments: Any) -> Any:
    return ppo.vector_gae(**arguments)


def _block_gae(reward: Any, value: Any, next_value: Any, terminated: Any, done: Any, gamma: Any, lmbda: Any) -> Any:
    block = ppo.VectorGAE(gamma=gamma, lmbda=lmbda)
    after = {"state_value": next_value, "reward": reward, "terminated": terminated, "done": done}
    batch = reward.shape[:-1] if isinstance(reward, torch.Tensor) else []
    try:
        rollout = TensorDict({"state_value": value, "next": after}, batch_size=batch)
    except Exception as error:
        raise UnreachedError from error
    return block(rollout)["advantage"]


def _standard_oracle(advantage: Any) -> tuple[Any, Any]:
    exact = np.longdouble(advantage)
    centred = exact - exact.mean(-2, keepdims=True)
    centred = np.where(np.ptp(exact, axis=-2, keepdims=True) == 0, 0, centred)
    std = np.sqrt((centred**2).mean(-2, keepdims=True))
    size = np.abs(exact).max(-2, keepdims=True) / (std + 1e-8)  # what rounding of the input amounts to
    return centred / (std + 1e-8), np.broadcast_to(1 + size, exact.shape)


def _log_probs(draw: Draw) -> dict[str, Any]:
    shape = (*draw.batch(), 6)
    return {"log_prob": draw.normal(*shape), "old_log_prob": draw.normal(*shape)}


def _kl_oracle(log_prob: Any, old_log_prob: Any) -> tuple[Any, Any] | None:
    ratio = np.longdouble(log_prob) - old_log_prob
    if np.abs(ratio).max() > 80:
        return None
    return (np.exp(ratio) - 1 - ratio).mean(-1), 0.0 * ratio.mean(-1) + 1e-6


def _explained_oracle(value: Any, target: Any) -> tuple[Any, Any] | None:
    value, target = np.longdouble(value), np.longdouble(target)
    total = target.var(-2)
    if (np.ptp(target, axis=-2) < 1e-3 * np.abs(target).max(-2)).any():
        return None
    answer = 1 - (target - value).var(-2) / total
    return None if np.abs(answer).max() > 1e30 else (answer, 1 + np.abs(value).max() ** 2 / total)


def _surrogate(draw: Draw) -> dict[str, Any]:
    log_probs = {"log_prob": draw.normal(6) * 0.1, "old_log_prob": draw.normal(6) * 0.1}
    return {**log_probs, "advantage": draw.normal(6, 3), "clip": 0.2}


def _ratio_oracle(log_prob: Any, old_log_prob: Any) -> tuple[Any, Any] | None:
    with np.errstate(over="ignore"):
        ratio = np.exp(np.longdouble(log_prob) - old_log_prob)
    # Rounding of the logs is an error of the ratio; where it is held, that is another number.
    return None if ratio.max() > 1e4 else (ratio, ratio * (1 + np.abs(log_prob) + np.abs(old_log_prob)))


def _surrogate_oracle(log_prob: Any, old_log_prob: Any, advantage: Any, clip: Any) -> tuple[Any, Any] | None:
    with np.errstate(over="ignore"):
        ratio = np.exp(np.longdouble(log_prob) - old_log_prob)[..., None]
    if ratio.max() > 1e4 or np.ndim(clip):
        return None
    kept = np.minimum(ratio * advantage, np.clip(ratio, 1 - clip, 1 + clip) * advantage)
    return -kept.mean(-2), np.abs(kept).max()


def _bounds(draw: Draw) -> dict[str, Any]:
    m = draw.objectives()
    low = draw.normal(m)
    return {"returns": draw.normal(*draw.batch(), m), "low": low, "high": low + draw.unit(m) + 0.5}


def _normalize_oracle(returns: Any, low: Any, high: Any) -> tuple[Any, Any]:
    span = np.maximum(high - low, 1e-6)
    return (returns - low) / span, (np.abs(returns).max() + np.abs(low)) / span


def _scalarised(draw: Draw) -> dict[str, Any]:
    shape = (*draw.batch(), 5, 3)
    values = {name: draw.unit(*shape) for name in ("normalized_return", "normalized_value")}
    return {**values, "weights": draw.simplex(3), "mu": draw.one((0.1, 10.0, 1e4))}


def _form(form: ppo.AdvantageForm, advantage: Any, weights: Any) -> Any:
    return form(ppo.Estimate(*[advantage] * 5), SmoothTchebycheff(), weights)


def _gaussian(draw: Draw) -> dict[str, Any]:
    shape = (*draw.batch(), 2)
    return {"action": draw.unit(*shape), "mean": draw.unit(*shape), "log_std": draw.normal(2) * 0.5}


def _gaussian_oracle(action: Any, mean: Any, log_std: Any) -> tuple[Any, Any] | None:
    if np.abs(log_std).max() > 40:
        return None
    terms = 0.5 * ((action - mean) * np.exp(-log_std)) ** 2 + log_std + 0.5 * np.log(2 * np.pi)
    size = (np.abs(action).max() + np.abs(mean).max()) ** 2 * np.exp(-2 * log_std.min()) + np.abs(log_std).max() + 2
    return -terms.sum(-1), size


def _categorical(draw: Draw) -> dict[str, Any]:
    logits = draw.normal(*draw.batch(), 4)
    return {"action": torch.from_numpy(np.asarray(draw.random.integers(4, size=logits.shape[:-1]))), "logits": logits}


@functools.cache
def _network(kind: Any, *sizes: int) -> Any:
    torch.manual_seed(0)
    return kind(*sizes)


def _observed(draw: Draw) -> dict[str, Any]:
    return {"observation": draw.normal(*draw.batch(), 4), "preference": draw.simplex(2)}


def _value_oracle(values: Any, targets: Any, attention: Any) -> tuple[Any, Any]:
    errors = (np.longdouble(values) - targets) ** 2
    attention = 1 / errors.shape[-1] if attention is None else attention
    return (attention * errors).sum(-1).mean(), errors.max() + (np.abs(values).max() + np.abs(targets).max()) ** 2


def _value_loss(draw: Draw) -> dict[str, Any]:
    shape = (*draw.batch(), 3)
    return {"values": draw.normal(*shape), "targets": draw.normal(*shape), "attention": draw.simplex(3)}


def _loss(**data: Any) -> Any:
    policy = ppo.CategoricalPolicy(_network(ppo.CategoricalActor, 4, 2, 3))
    critic = TensorDictModule(_network(critics.SharedCritic, 4, 2), ["observation", "preference"], ["state_value"])
    try:
        minibatch = TensorDict(data, batch_size=[5])
    except Exception as error:
        raise UnreachedError from error
    return ppo.VectorClipPPOLoss(policy, critic)(minibatch)


def _minibatch(draw: Draw) -> dict[str, Any]:
    return {
        "observation": draw.normal(5, 4),
        "preference": draw.simplex(5, 2),
        "action": torch.from_numpy(draw.random.integers(3, size=5)),
        "action_log_prob": -1 + 0.1 * draw.normal(5),
        "advantage": draw.normal(5, 2),
        "value_target": draw.normal(5, 2),
    }


def _policy(observation: Any, preference: Any, *, discrete: bool) -> Any:
    try:
        data = TensorDict({"observation": observation, "preference": preference}, batch_size=[5])
    except Exception as error:
        raise UnreachedError from error
    if discrete:
        return ppo.CategoricalPolicy(_network(ppo.CategoricalActor, 4, 2, 3))(data)["action"]
    policy = ppo.UnitBoxPolicy(_network(ppo.UnitBoxGaussianActor, 4, 2, 3), low=-1.0, high=1.0)
    return policy(data)["action"]


def _transformed(reward: Any, weights: Any) -> Any:
    transform = ScalarizeReward(Linear(), weights)
    try:
        data = TensorDict({"reward": reward}, batch_size=[])
    except Exception as error:
        raise UnreachedError from error
    return transform(data)["reward"]


PPO = [
    Case(
        "vector_gae",
        _rollout,
        _vector_gae,
        _gae_oracle,
        pure=True,
        ignores=("next_value", "gamma", "lmbda"),
    ),
    Case(
        "VectorGAE",
        _rollout,
        _block_gae,
        _gae_oracle,
        ignores=("next_value",),
        words=("state_value", "next", "tensordict", "steps_to_next_obs"),
    ),
    Case(
        "vector_advantage",
        lambda d: {"advantage": d.normal(*d.batch(), 6, 3)},
        ppo.vector_advantage,
        _standard_oracle,
        pure=True,
    ),
    Case(
        "scalarised_advantage",
        _scalarised,
        lambda normalized_return, normalized_value, weights, mu: ppo.scalarised_advantage(
            SmoothTchebycheff(mu), normalized_return, normalized_value, weights
        ),
        words=("values", "others"),
    ),
    Case("approximate_kl", _log_probs, ppo.approximate_kl, _kl_oracle, pure=True),
    Case("clip_fraction", lambda d: _log_probs(d) | {"clip": 0.2}, ppo.clip_fraction, pure=True, ignores=("clip",)),
    Case(
        "explained_variance",
        lambda d: {"value": d.normal(6, 3), "target": d.normal(6, 3)},
        ppo.explained_variance,
        _explained_oracle,
        pure=True,
    ),
    Case("normalize", _bounds, ppo.normalize, _normalize_oracle, pure=True),
    Case(
        "update_bounds",
        _bounds,
        lambda returns, low, high: ppo.update_bounds(low, high, returns),
        lambda returns, low, high: (np.minimum(low, returns.reshape(-1, low.shape[-1]).min(0)), 0.0),
        pure=True,
    ),
    Case(
        "ReturnNormalizer",
        lambda d: {"returns": d.normal(5, 3), "values": d.normal(4, 3), "num_objectives": 3},
        lambda returns, values, num_objectives: (
            (block := ppo.ReturnNormalizer(num_objectives))(returns),
            block.normalize(values),
        ),
        words=("normalizer",),
    ),
    Case("probability_ratio", _log_probs, ppo.probability_ratio, _ratio_oracle, pure=True),
    Case("clipped_objectives", _surrogate, ppo.clipped_objectives, _surrogate_oracle, pure=True, ignores=("clip",)),
    Case(
        "ClippedSurrogate",
        _surrogate,
        lambda **a: ppo.ClippedSurrogate()(**a),
        _surrogate_oracle,
        pure=True,
        ignores=("clip",),
    ),
    Case(
        "VectorAdvantage",
        lambda d: {"advantage": d.normal(6, 3), "weights": d.simplex(3)},
        lambda **a: _form(ppo.VectorAdvantage(), **a),
        lambda advantage, weights: _standard_oracle(advantage),
        pure=True,
        ignores=("weights",),
    ),
    *(
        Case(
            type(form).__name__,
            lambda d: {"advantage": d.unit(6, 3), "weights": d.simplex(3)},
            functools.partial(_form, form),
            words=("normalized_return", "normalized_value", "values", "others"),
        )
        for form in (ppo.ScalarisedAdvantage(), ppo.EpisodeAdvantage())
    ),
    Case(
        "gaussian_kl",
        lambda d: {
            "mean": (g := _gaussian(d))["mean"],
            "log_std": g["log_std"],
            "other_mean": g["action"],
            "other_log_std": d.normal(2) * 0.5,
        },
        ppo.gaussian_kl,
        pure=True,
        strain=5.0,
    ),
    Case(
        "categorical_kl",
        lambda d: {"logits": (x := d.normal(*d.batch(), 4)), "other_logits": d.normal(*x.shape)},
        ppo.categorical_kl,
        pure=True,
    ),
    Case(
        "indifference",
        lambda d: {"divergence": d.unit(5), "preference": d.unit(5, 3), "other": d.unit(5, 3)},
        lambda **a: ppo.indifference(**a, scale=1.0),
        pure=True,
    ),
    Case("gaussian_log_prob", _gaussian, ppo.gaussian_log_prob, _gaussian_oracle, pure=True, strain=5.0),
    Case(
        "gaussian_sample",
        lambda d: {"mean": (g := _gaussian(d))["mean"], "log_std": g["log_std"], "noise": d.normal(*g["mean"].shape)},
        ppo.gaussian_sample,
        pure=True,
        strain=10.0,
    ),
    Case("gaussian_entropy", lambda d: {"log_std": d.normal(*d.batch(), 2)}, ppo.gaussian_entropy, pure=True),
    Case(
        "unit_box_to_action",
        lambda d: {"unit_action": d.unit(*d.batch(), 2), "low": -d.unit(2), "high": d.unit(2)},
        ppo.unit_box_to_action,
        pure=True,
    ),
    Case(
        "categorical_sample",
        lambda d: {"logits": (x := d.normal(*d.batch(), 4)), "noise": d.unit(*x.shape)},
        ppo.categorical_sample,
        pure=True,
        ignores=("logits", "noise"),
    ),
    Case("categorical_log_prob", _categorical, ppo.categorical_log_prob, pure=True),
    Case("categorical_entropy", lambda d: {"logits": d.normal(*d.batch(), 4)}, ppo.categorical_entropy, pure=True),
    Case("UnitBoxGaussianActor", _observed, lambda **a: _network(ppo.UnitBoxGaussianActor, 4, 2, 3)(**a)),
    Case(
        "Indifference",
        lambda d: {"observation": d.normal(5, 4), "preference": torch.full((5, 2), 0.5)},
        lambda **a: ppo.Indifference()(_network(ppo.CategoricalActor, 4, 2, 3), **a),
    ),
    Case("CategoricalActor", _observed, lambda **a: _network(ppo.CategoricalActor, 4, 2, 3)(**a)),
    Case(
        "UnitBoxPolicy",
        lambda d: {"observation": d.normal(5, 4), "preference": d.simplex(5, 2)},
        lambda **a: _policy(**a, discrete=False),
    ),
    Case(
        "CategoricalPolicy",
        lambda d: {"observation": d.normal(5, 4), "preference": d.simplex(5, 2)},
        lambda **a: _policy(**a, discrete=True),
    ),
    Case(
        "VectorClipPPOLoss",
        _minibatch,
        _loss,
        words=("log_prob", "sample_log_prob", "state_value", "tensordict", "logits", "targets"),
    ),
]

CRITICS = [
    Case("value_loss", _value_loss, critics.value_loss, _value_oracle, pure=True),
    Case("SharedCritic", _observed, lambda **a: _network(critics.SharedCritic, 4, 2)(**a)),
    Case("BranchedCritic", _observed, lambda **a: _network(critics.BranchedCritic, 4, 2)(**a)),
    Case(
        "AttentionWeightedCritic",
        _observed,
        lambda **a: critics.AttentionWeightedCritic(_network(critics.BranchedCritic, 4, 2))(**a),
    ),
    Case(
        "AttentionWeightedCritic.loss",
        _value_loss,
        lambda **a: critics.AttentionWeightedCritic(_network(critics.BranchedCritic, 4, 3)).loss(**a),
        _value_oracle,
    ),
    Case(
        "BranchedCritic, sizes",
        lambda d: {"observation_dim": 3, "num_objectives": 2, "hidden": 4, "depth": 2},
        lambda **a: critics.BranchedCritic(**a) and None,
    ),
]

TRANSFORMS = [
    Case(
        "ScalarizeReward",
        lambda d: {"reward": d.normal(5, 3), "weights": d.simplex(3)},
        _transformed,
        words=("values",),
    ),
]
