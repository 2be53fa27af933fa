"""Fuzz cases of the metrics; a metric without a case of its own gets an array for every argument it requires."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks._fuzz_inputs import Draw
from benchmarks._fuzz_judge import Case
from morl_blocks import metrics


def _scores(*shape: int) -> Callable[[Draw], dict[str, Any]]:
    return lambda draw: {"hv": draw.unit(*shape)}


def _box(draw: Draw) -> dict[str, Any]:
    low = draw.normal(3)
    return {"returns": draw.normal(*draw.batch(), 3), "low": low, "high": low + draw.unit(3) + 0.5}


def _box_oracle(returns: Any, low: Any, high: Any) -> tuple[Any, Any]:
    return np.clip((returns - low) / (high - low), 0, 1).prod(-1), 1.0


def _front_and(name: str, *shape: int) -> Callable[[Draw], dict[str, Any]]:
    return lambda draw: {"points": draw.unit(6, 3), name: 0.1 * draw.unit(*shape)}


def _drawn(name: str, *shape: int) -> Callable[[Draw], dict[str, Any]]:
    """Return what an interval over redraws takes: few of them, so that the fuzzer is done in time."""
    whole = torch.ones(shape[1:3], dtype=torch.bool)
    return lambda draw: {name: draw.unit(*shape), "present": whole, "level": 0.95, "resamples": 10, "seed": 3}


def _difference(draw: Draw) -> dict[str, Any]:
    return {"error": float(draw.random.random()), "freedom": 4, "level": 0.95, "power": 0.8}


def _pairs(draw: Draw) -> dict[str, Any]:
    return {"first": draw.unit(4, 5), "second": draw.unit(4, 5)}


METRICS = [
    Case(
        "hypervolume",
        lambda d: {"points": d.unit(6, 3), "reference": torch.zeros(3)},
        lambda **a: metrics.hypervolume(**a),
    ),
    Case("run_hypervolume", _box, lambda **a: metrics.run_hypervolume(**a), _box_oracle),
    Case("nondominated", lambda d: {"points": d.unit(6, 3)}, lambda **a: metrics.nondominated(**a)),
    Case("win_rate", _scores(3, 4), lambda **a: metrics.win_rate(**a)),
    Case(
        "objective_dominance_rate",
        lambda d: {"objectives": d.normal(3, 4, 2)},
        lambda **a: metrics.objective_dominance_rate(**a),
    ),
    Case("profile_auc", lambda d: {"hv": d.unit(3, 4), "tau_max": 3.0}, lambda **a: metrics.profile_auc(**a)),
    Case("profile", lambda d: {"hv": d.unit(3, 4), "taus": 1 + d.unit(5)}, lambda **a: metrics.profile(**a)),
    Case("performance_ratios", _scores(3, 4), lambda **a: 1 / metrics.performance_ratios(**a)),  # infinite by contract
    Case(
        "expected_utility",
        lambda d: {"returns": d.normal(*d.batch(), 3), "weights": d.simplex(3)},
        lambda **a: metrics.expected_utility(**a),
        lambda returns, weights: ((weights * returns).sum(-1), np.abs(returns).max()),
    ),
    Case("interquartile_mean", lambda d: {"values": d.normal(8)}, lambda **a: metrics.interquartile_mean(**a)),
    Case(
        "bootstrap_ci",
        lambda d: _drawn("values", 4, 5)(d) | {"present": torch.ones(4, 5) > 0, "statistic": d.one(("mean", "iqm"))},
        lambda **a: metrics.bootstrap_ci(**a),
    ),
    Case("win_rate_ci", _drawn("hv", 3, 4, 5), lambda **a: metrics.win_rate_ci(**a)),
    Case("objective_dominance_ci", _drawn("objectives", 3, 4, 5, 2), lambda **a: metrics.objective_dominance_ci(**a)),
    Case(
        "profile_auc_ci", lambda d: _drawn("hv", 3, 4, 5)(d) | {"tau_max": 3.0}, lambda **a: metrics.profile_auc_ci(**a)
    ),
    Case("detectable_difference", _difference, lambda **a: metrics.detectable_difference(**a)),
    Case(
        "even_weights",
        lambda d: {"num_objectives": d.one((2, 3, 4)), "count": d.one((4, 6, 10))},
        lambda **a: metrics.even_weights(**a),
    ),
    Case(
        "compare",
        lambda d: _pairs(d) | {"level": 0.95},
        lambda first, second, level: metrics.compare(first, second, level=level),
        words=("second",),
    ),
    Case("probability_of_improvement", _pairs, lambda **a: metrics.probability_of_improvement(**a)),
    Case("non_dominated", lambda d: {"points": d.unit(6, 3)}, lambda **a: metrics.non_dominated(**a)),
    Case("front_hypervolume", _front_and("reference", 3), lambda **a: metrics.front_hypervolume(**a)),
    Case("igd", _front_and("known", 4, 3), lambda **a: metrics.igd(**a)),
    Case("igd_plus", _front_and("known", 4, 3), lambda **a: metrics.igd_plus(**a)),
    Case("additive_epsilon", _front_and("known", 4, 3), lambda **a: metrics.additive_epsilon(**a)),
    Case("maximum_utility_loss", _front_and("known", 4, 3), lambda **a: metrics.maximum_utility_loss(**a)),
    Case(
        "eum",
        lambda d: {"points": d.unit(6, 3), "weights": d.simplex(3)[None]},
        lambda **a: metrics.eum(**a),
    ),
    Case(
        "discounted_returns",
        lambda d: {"rewards": d.normal(4, 2, 3), "done": torch.zeros(4, 2, dtype=torch.bool), "gamma": 0.5},
        lambda **a: metrics.discounted_returns(**a),
    ),
]


def _matrices(draw: Draw, names: list[str]) -> dict[str, Any]:
    return {name: draw.unit(4, 3) for name in names}


def unknown(known: set[str]) -> list[Case]:
    """Return a case for each metric that has none above: matrices for all that it requires."""
    cases = []
    for name in sorted(set(metrics.__all__) - known):
        function = getattr(metrics, name)
        if inspect.isfunction(function):
            required = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
            cases.append(Case(name, functools.partial(_matrices, names=required), function))
    return cases
