"""Fuzz cases of the scalarizers, the schedulers, the combiners and the gradients of several losses."""

from typing import Any

import numpy as np
import torch
from torchjd.aggregation import UPGrad

from benchmarks._fuzz_inputs import Draw
from benchmarks._fuzz_judge import Case
from morl_blocks import combine_gradients, combiners, objective_jacobian, scalarizers, schedulers

Arrays = dict[str, Any]


# --- Scalarizers ------------------------------------------------------------------------------------------------------


def _values(draw: Draw) -> dict[str, Any]:
    batch, m = draw.batch(), draw.objectives()
    weights = draw.simplex(m) if draw.chance(0.5) else draw.simplex(*batch, m)
    return {"values": draw.unit(*batch, m), "weights": weights}


def _smooth(draw: Draw) -> dict[str, Any]:
    return _values(draw) | {"mu": draw.one((1e-3, 0.1, 1.0, 10.0, 1e3)), "utopia": draw.one((1.05, 1.5))}


def _gaps(values: Any, weights: Any, utopia: Any) -> Any:
    return weights * ((1.05 if utopia is None else utopia) - values)


def _log_sum(gaps: Any, mu: Any) -> Any:
    gaps, mu = np.longdouble(gaps), np.asarray(mu, dtype=np.longdouble)[..., None]
    top = gaps.max(-1, keepdims=True)
    return (top + mu * np.log(np.exp((gaps - top) / mu).sum(-1, keepdims=True)))[..., 0]


def _softmax(gaps: Any, mu: Any) -> Any:
    powers = np.exp((gaps - gaps.max(-1, keepdims=True)) / np.asarray(mu)[..., None])
    return powers / powers.sum(-1, keepdims=True)


def _linear_oracle(values: Any, weights: Any, **_: Any) -> tuple[Any, Any]:
    return (weights * values).sum(-1), np.abs(values).max(-1)


def _tchebycheff_oracle(values: Any, weights: Any, utopia: Any = 1.05, **_: Any) -> tuple[Any, Any]:
    gaps = _gaps(values, weights, utopia)
    return -gaps.max(-1), np.abs(gaps).max(-1)


def _smooth_oracle(values: Any, weights: Any, mu: Any, utopia: Any = 1.05, **_: Any) -> tuple[Any, Any]:
    gaps = _gaps(values, weights, utopia)
    size = np.abs(gaps).max(-1) + np.abs(mu) * np.log(gaps.shape[-1])
    return -_log_sum(gaps, mu), size


def _attention_oracle(values: Any, weights: Any, mu: Any, utopia: Any = 1.05, **_: Any) -> tuple[Any, Any] | None:
    gaps = _gaps(values, weights, utopia)
    if np.abs(gaps).max() > 1e3 * np.min(mu):  # a rounding of the gaps moves the softmax
        return None
    return _softmax(gaps, mu), 1.0


def _difference_oracle(
    values: Any, others: Any, weights: Any, mu: Any, utopia: Any = 1.05, **_: Any
) -> tuple[Any, Any]:
    gaps, other = _gaps(np.longdouble(values), weights, utopia), _gaps(np.longdouble(others), weights, utopia)
    return _log_sum(other, mu) - _log_sum(gaps, mu), np.abs(gaps).max(-1) + np.abs(other).max(-1) + 1e-12 * mu


def _others(draw: Draw) -> dict[str, Any]:
    arguments = _smooth(draw)
    return arguments | {"others": draw.unit(*arguments["values"].shape)}


def _adaptive(values: Any, weights: Any, mu: Any, utopia: Any, maintenance: Any) -> Any:
    block = scalarizers.AdaptiveSmoothTchebycheff(schedulers.Fixed(mu), utopia, maintenance)
    return block(values, weights), block.attention(values, weights)


SCALARIZERS = [
    Case("linear", _values, scalarizers.linear, _linear_oracle, pure=True),
    Case(
        "tchebycheff", lambda d: _values(d) | {"utopia": 1.05}, scalarizers.tchebycheff, _tchebycheff_oracle, pure=True
    ),
    Case(
        "weighted_gaps",
        lambda d: _values(d) | {"utopia": 1.05},
        scalarizers.weighted_gaps,
        lambda values, weights, utopia: (_gaps(values, weights, utopia), np.abs(values).max() + np.abs(utopia)),
        pure=True,
    ),
    Case("smooth_tchebycheff", _smooth, scalarizers.smooth_tchebycheff, _smooth_oracle, pure=True),
    Case(
        "smooth_attention",
        lambda d: {"gaps": d.normal(*d.batch(), 3), "mu": d.one((0.1, 1.0, 10.0))},
        scalarizers.smooth_attention,
        lambda gaps, mu: None if np.abs(gaps).max() > 1e3 * np.min(mu) else (_softmax(gaps, mu), 1.0),
        pure=True,
    ),
    Case(
        "smooth_difference",
        lambda d: {"gaps": (g := d.normal(*d.batch(), 3)), "other_gaps": d.normal(*g.shape), "mu": d.one((0.1, 1e3))},
        scalarizers.smooth_difference,
        lambda gaps, other_gaps, mu: (
            _log_sum(gaps, mu) - _log_sum(other_gaps, mu),
            np.abs(gaps).max(-1) + np.abs(other_gaps).max(-1) + 1e-12 * mu,
        ),
        pure=True,
    ),
    Case(
        "maintain",
        lambda d: {"attention": d.simplex(*d.batch(), 3), "maintenance": 0.15},
        scalarizers.maintain,
        lambda attention, maintenance: (
            (1 - maintenance) * attention + maintenance / attention.shape[-1],
            np.abs(attention).max() + 1,
        ),
        pure=True,
    ),
    Case("Linear", _values, lambda **a: scalarizers.Linear()(**a), _linear_oracle),
    Case("Linear.gradient", _values, lambda **a: scalarizers.Linear().gradient(**a)),
    Case("Linear.attention", _values, lambda **a: scalarizers.Linear().attention(**a)),
    Case(
        "Linear.difference",
        lambda d: (a := _values(d)) | {"others": d.unit(*a["values"].shape)},
        lambda **a: scalarizers.Linear().difference(**a),
        lambda values, others, weights: (
            (weights * (values - others)).sum(-1),
            np.abs(values).max() + np.abs(others).max(),
        ),
    ),
    Case(
        "Tchebycheff",
        lambda d: _values(d) | {"utopia": 1.05},
        lambda values, weights, utopia: scalarizers.Tchebycheff(utopia)(values, weights),
        _tchebycheff_oracle,
    ),
    Case(
        "Tchebycheff.gradient",
        lambda d: _values(d) | {"utopia": 1.05},
        lambda values, weights, utopia: scalarizers.Tchebycheff(utopia).gradient(values, weights),
    ),
    Case(
        "SmoothTchebycheff",
        _smooth,
        lambda values, weights, mu, utopia: scalarizers.SmoothTchebycheff(mu, utopia)(values, weights),
        _smooth_oracle,
    ),
    Case(
        "SmoothTchebycheff.attention",
        _smooth,
        lambda values, weights, mu, utopia: scalarizers.SmoothTchebycheff(mu, utopia).attention(values, weights),
        _attention_oracle,
    ),
    Case(
        "SmoothTchebycheff.attention, exact",
        lambda d: _smooth(d) | {"attention": "gradient", "sense": "max"},
        lambda values, weights, mu, utopia, attention, sense: scalarizers.SmoothTchebycheff(
            mu, utopia, attention=attention, sense=sense, mask_zero_weight=True
        ).attention(values, weights),
    ),
    Case(
        "SmoothTchebycheff.gradient",
        _smooth,
        lambda values, weights, mu, utopia: scalarizers.SmoothTchebycheff(mu, utopia).gradient(values, weights),
    ),
    Case(
        "SmoothTchebycheff.difference",
        _others,
        lambda values, others, weights, mu, utopia: scalarizers.SmoothTchebycheff(mu, utopia).difference(
            values, others, weights
        ),
        _difference_oracle,
    ),
    Case("AdaptiveSmoothTchebycheff", lambda d: _smooth(d) | {"maintenance": 0.15}, _adaptive, _smooth_oracle),
]


# --- Schedulers -------------------------------------------------------------------------------------------------------


def _run(draw: Draw, value: float) -> Any:
    return value if draw.chance(0.5) else torch.full((3,), value)


def _decay_oracle(progress: Any, start: Any, end: Any, **_: Any) -> tuple[Any, Any]:
    done = np.clip(progress, 0, 1)
    return (1 - done) * start + done * end, np.abs(start) + np.abs(end)


def _braked_oracle(start: Any, threshold: Any, maximum: Any, progress: Any, conflict: Any) -> tuple[Any, Any]:
    base = (1 - progress) * start + progress * 0.05
    raised = base + np.maximum(0, (conflict - threshold) / (1 - threshold)) * (maximum - base)
    return raised, np.abs(maximum) + np.abs(start)


SCHEDULERS = [
    Case(
        "smooth",
        lambda d: {"previous": d.unit(3), "target": d.unit(3), "smoothing": _run(d, 0.05)},
        schedulers.smooth,
        lambda previous, target, smoothing: (
            (1 - smoothing) * previous + smoothing * target,
            np.abs(previous) + np.abs(target) * np.abs(smoothing) + np.abs(smoothing * previous),
        ),
        pure=True,
    ),
    Case(
        "boost",
        lambda d: {"conflict": d.unit(3), "threshold": d.one((0.0, 0.4, 0.9))},
        schedulers.boost,
        lambda conflict, threshold: (np.maximum(0, (conflict - threshold) / (1 - threshold)), 10.0),
        pure=True,
    ),
    Case(
        "braked",
        lambda d: {"base": d.unit(3), "boost": d.unit(3), "maximum": _run(d, 10.0)},
        schedulers.braked,
        lambda base, boost, maximum: (
            base + boost * (maximum - base),
            np.abs(base) + np.abs(boost) * (np.abs(maximum) + np.abs(base)),
        ),
        pure=True,
    ),
    Case(
        "linear_decay",
        lambda d: {"progress": d.unit(3), "start": _run(d, 10.0), "end": _run(d, 0.05)},
        schedulers.linear_decay,
        _decay_oracle,
        pure=True,
    ),
    Case(
        "Fixed",
        lambda d: {"mu": _run(d, 1.0), "progress": 0.5, "conflict": _run(d, 0.3)},
        lambda mu, progress, conflict: schedulers.Fixed(mu).step(progress, conflict),
        words=("Fixed.advance",),
    ),
    Case(
        "LinearDecay",
        lambda d: {"start": _run(d, 10.0), "end": _run(d, 0.05), "smoothing": _run(d, 1.0), "progress": _run(d, 0.5)},
        lambda start, end, smoothing, progress: schedulers.LinearDecay(start, end, smoothing).step(progress),
        lambda start, end, smoothing, progress: (
            _decay_oracle(progress + 0 * smoothing, start, end) if np.all(smoothing == 1) else None
        ),
        words=("LinearDecay.advance",),
    ),
    Case(
        "ConflictBraked",
        lambda d: {
            "start": 10.0,
            "threshold": _run(d, 0.4),
            "maximum": _run(d, 10.0),
            "progress": 0.5,
            "conflict": _run(d, 0.7),
        },
        lambda start, threshold, maximum, progress, conflict: schedulers.ConflictBraked(
            schedulers.LinearDecay(start, 0.05), maximum, threshold, 1.0
        ).step(progress, conflict),
        _braked_oracle,
        words=("ConflictBraked.advance", "LinearDecay.advance", "end"),
    ),
]


# --- Combiners and gradients ------------------------------------------------------------------------------------------


def _jacobian(draw: Draw) -> dict[str, Any]:
    m = draw.objectives()
    runs = draw.batch()
    return {"jacobian": draw.normal(*runs, m, 4), "attention": draw.simplex(m), "generator": draw.generator()}


def _gramian(draw: Draw) -> dict[str, Any]:
    arguments = _jacobian(draw)
    jacobian = arguments.pop("jacobian").double()
    return {"gramian": (jacobian @ jacobian.mT).float(), **arguments}


def _order(draw: Draw) -> dict[str, Any]:
    arguments = _gramian(draw)
    shape = tuple(arguments["gramian"].shape[:-1])
    return {"gramian": arguments["gramian"], "order": combiners.random_order(shape, draw.generator())}


def _project(jacobian: Any, order: Any) -> Any | None:
    """Project in parameter space; ``None`` where a rounding would decide a sign."""
    units = jacobian / np.maximum(np.linalg.norm(jacobian, axis=-1, keepdims=True), 1e-300)
    rows = []
    for i in range(len(jacobian)):
        current = units[i].copy()
        for j in order[i]:
            inner = current @ units[j]
            if j != i and abs(inner) < 1e-3 and units[j].any() and current.any():
                return None
            if j != i and inner < 0:
                current = current - inner * units[j]
        rows.append(current * np.linalg.norm(jacobian[i]))
    return np.stack(rows)


def _pcgrad_oracle(jacobian: Any, attention: Any, generator: Any, *, weighted: bool) -> tuple[Any, Any] | None:
    if jacobian.ndim != 2:
        return None
    rows = _project(jacobian, ORDERS[len(jacobian)])
    if rows is None:
        return None
    share = len(jacobian) * attention if weighted else np.ones(len(jacobian))
    return share @ rows, np.abs(jacobian).max() * len(jacobian)


ORDERS = {m: combiners.random_order((m,), torch.Generator().manual_seed(7)).tolist() for m in range(1, 12)}


def _seven(block: type) -> Any:
    """Call a combiner with the orders of seed 7, which the oracle knows."""
    return lambda jacobian, attention, generator: block()(jacobian, attention, torch.Generator().manual_seed(7))


def _sum_oracle(jacobian: Any, **_: Any) -> tuple[Any, Any]:
    return jacobian.sum(-2), np.abs(jacobian).max() * jacobian.shape[-2]


def _weighted_oracle(jacobian: Any, attention: Any, **_: Any) -> tuple[Any, Any] | None:
    if attention.ndim != 1:
        return None
    weighed = len(attention) * attention[:, None] * jacobian
    return weighed.sum(-2), np.abs(jacobian).max() * len(attention)


def _linear_losses(matrix: Any) -> tuple[Any, Any]:
    x = torch.ones(matrix.shape[-1] if isinstance(matrix, torch.Tensor) and matrix.dim() else 1, requires_grad=True)
    losses = matrix @ x if isinstance(matrix, torch.Tensor) and matrix.dtype == x.dtype and matrix.dim() else matrix
    return losses, x


def _combine(losses: Any, attention: Any, combiner: Any) -> Any:
    losses, x = _linear_losses(losses)
    combine_gradients(losses, [x], combiner(), attention)
    return x.grad


COMBINERS = [
    Case(
        "random_order",
        lambda d: {"shape": (*d.batch(), 3), "generator": d.generator()},
        combiners.random_order,
        pure=True,
        keep=("generator",),
    ),
    Case("pcgrad_projections", _order, combiners.pcgrad_projections, pure=True),
    Case("projected_conflict", _order, combiners.projected_conflict, pure=True),
    Case("pair_conflict", lambda d: {"gramian": _gramian(d)["gramian"]}, combiners.pair_conflict, pure=True),
    Case(
        "conflict_ratio",
        lambda d: {"gramian": _gramian(d)["gramian"]},
        combiners.conflict_ratio,
        lambda gramian: ((gramian < 0).sum((-2, -1)) / (gramian.shape[-1] * (gramian.shape[-1] - 1)), 1.0),
    ),
    Case("Sum", _jacobian, lambda **a: combiners.Sum()(**a), _sum_oracle, keep=("generator",), ignores=("attention",)),
    Case("WeightedSum", _jacobian, lambda **a: combiners.WeightedSum()(**a), _weighted_oracle, keep=("generator",)),
    *(
        Case(
            combiner.__name__,
            _jacobian,
            _seven(combiner),
            lambda **a: _pcgrad_oracle(**a, weighted=False),
            keep=("generator",),
            ignores=("attention",),
        )
        for combiner in (combiners.PCGrad, combiners.GroupedPCGrad)
    ),
    Case(
        "WeightedPCGrad",
        _jacobian,
        _seven(combiners.WeightedPCGrad),
        lambda **a: None if np.ndim(a["attention"]) != 1 else _pcgrad_oracle(**a, weighted=True),
        keep=("generator",),
    ),
    Case(
        "preference_groups",
        lambda d: {"preferences": d.simplex(*d.batch(), 3), "groups": d.one((2, 4, 8))},
        combiners.preference_groups,
        pure=True,
    ),
    Case(
        "PCGrad.weights",
        _gramian,
        lambda **a: combiners.PCGrad().weights(**a),
        keep=("generator",),
        ignores=("attention",),
    ),
    Case(
        "WeightedPCGrad.weights",
        _gramian,
        lambda **a: combiners.WeightedPCGrad(pairing="position", conflict="projected").weights(**a),
        keep=("generator",),
    ),
    Case(
        "TorchJD",
        _jacobian,
        lambda **a: combiners.TorchJD(UPGrad())(**a),
        keep=("generator",),
        ignores=("attention",),
        words=("UPGrad", "method"),
    ),
    Case(
        "objective_jacobian",
        lambda d: {"losses": d.normal(3, 4)},
        lambda losses: objective_jacobian((pair := _linear_losses(losses))[0], [pair[1]]),
        lambda losses: (losses, np.abs(losses).max()),
        words=("params",),
        pure=True,
    ),
    Case(
        "combine_gradients",
        lambda d: {"losses": d.normal(3, 4), "attention": d.simplex(3), "combiner": combiners.WeightedPCGrad},
        _combine,
        words=("params", "jacobian"),
        keep=("combiner",),
    ),
]
