"""Fuzz cases of what several losses need: normalizers, problems, sets of solutions and TorchJD's scalarizers."""

from typing import Any

import numpy as np
from torchjd.scalarization import STCH

from benchmarks._fuzz_inputs import Draw
from benchmarks._fuzz_judge import Case
from morl_blocks import normalizers, problems, scalarizers

NORMALIZERS = ("InitialValue", "WarmUp", "RunningRange", "Standardize", "LogRatio")
PROBLEMS = ("VLMOP2", "ZDT1", "ZDT2", "ZDT3", "DTLZ2")


def _seen(draw: Draw) -> dict[str, Any]:
    return {"values": draw.unit(*draw.batch(), 3) + 0.1}


def _normalized(name: str) -> Any:
    def call(values: Any) -> Any:
        normalizer = getattr(normalizers, name)()
        normalizer.update(values)
        return normalizer(values)

    return call


def _variables(draw: Draw) -> dict[str, Any]:
    return {"x": draw.unit(*draw.batch(), 12)}


def _problem(name: str) -> Any:
    return lambda x: getattr(problems, name)(dimension=12)(x)


def _set(draw: Draw) -> dict[str, Any]:
    m = draw.objectives()
    return {"values": draw.unit(*draw.batch(), 3, m), "weights": draw.simplex(m), "mu": draw.one((0.01, 0.1, 1.0))}


def _pair(draw: Draw) -> dict[str, Any]:
    m = draw.objectives()
    return {"values": draw.unit(*draw.batch(), m), "weights": draw.simplex(m)}


def _given(first: str, *others: str) -> Any:
    def make(draw: Draw) -> dict[str, Any]:
        shape = (*draw.batch(), 3)
        return {first: draw.unit(*shape) + 0.1, **{name: draw.unit(3) + 0.1 for name in others}}

    return make


def _relative_oracle(values: Any, scale: Any) -> tuple[Any, Any]:
    return values / np.abs(scale), np.abs(values / scale)


LOSSES = [
    *(Case(name, _seen, _normalized(name)) for name in NORMALIZERS),
    *(Case(name, _variables, _problem(name)) for name in PROBLEMS),
    Case("relative", _given("values", "scale"), normalizers.relative, _relative_oracle, pure=True),
    Case("log_ratio", _given("values", "first"), normalizers.log_ratio, pure=True),
    Case("ranged", _given("values", "low", "high"), normalizers.ranged, pure=True),
    Case("standardized", _given("values", "mean", "deviation"), normalizers.standardized, pure=True),
    Case(
        "smooth_tchebycheff_set",
        lambda d: _set(d) | {"utopia": 1.05},
        scalarizers.smooth_tchebycheff_set,
        pure=True,
    ),
    Case(
        "SmoothTchebycheffSet",
        _set,
        lambda values, weights, mu: scalarizers.SmoothTchebycheffSet(mu)(values, weights),
    ),
    Case("TorchJDScalarizer", _pair, lambda values, weights: scalarizers.TorchJDScalarizer(STCH(0.1))(values, weights)),
]
