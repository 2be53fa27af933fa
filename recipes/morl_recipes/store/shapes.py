"""The structure of a store's JSON: a digest proves that a file is intact, not who wrote it."""

from collections.abc import Mapping
from typing import Any

POINT_FIELDS = ("iteration", "steps", "returns")
"""Fields of a validation point besides its scores."""
TEST_POINTS = ("test_peak", "test_final")
"""Test scores of a run, in ``run.json`` or in a separate file; runs of older versions have none."""
HISTORY, POLICY = "history.csv", "policy.safetensors"
"""Files of a run besides ``run.json``."""

# A shape is a type, a constant, a tuple of alternatives, a list with the shape of its items, or a dictionary with the
# shapes of its fields, where ``...`` stands for all fields that are not named (without it they may hold anything).
_MISSING = object()
_NUMBER = (float, int, None)
_NUMBERS, _TEXTS, _ANYTHING = [_NUMBER], {...: str}, dict[Any, Any]()
_POINT = ({"iteration": _NUMBER, "steps": _NUMBER, "returns": _NUMBERS, ...: _NUMBER}, None)
_TEST = ({"episodes": int, "returns": _NUMBERS, "returns_se": _NUMBERS, ...: _NUMBER}, None, _MISSING)
_FILE = ({"bytes": int, "sha256": str}, _MISSING)
_IDENTITY = {**dict.fromkeys(("run_id", "group", "method", "env"), str), "seed": int, "steps": int}
_RUN = {
    **_IDENTITY,
    "preference": _NUMBERS,
    "status": ("done", "failed"),
    "reason": str,
    "peak": _POINT,
    "final": _POINT,
    "recipe": _ANYTHING,
    "files": {HISTORY: _FILE, POLICY: _FILE, ...: _MISSING},
    "versions": (_TEXTS, _MISSING),
}
_PLANNED = {**_IDENTITY, "preference": [(float, int)], "recipe": _ANYTHING}
_BOUNDS = (_NUMBERS, None)
_MANIFEST = {
    **dict.fromkeys(("command", "created"), str),
    "versions": _TEXTS,
    "machine": _ANYTHING,
    "environments": {...: {"objectives": [str], "low": _BOUNDS, "high": _BOUNDS}},
    "runs": [_PLANNED],
    "training": (_ANYTHING, _MISSING),  # manifests of older versions lack it and the next one
    "plugins": ([_TEXTS], _MISSING),
}


def check_run(fields: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the fields of a ``run.json``; ``None`` when nothing is."""
    if (wrong := _wrong_field(fields, _RUN)) is not None:
        return wrong
    points = [fields["peak"], fields["final"]]
    if fields["status"] == "done" and None in points:
        return "done without a validation"
    if any(point is not None and len(point["returns"]) != len(fields["preference"]) for point in points):
        return "not one return per weight"
    if not 0 <= fields["steps"] < 2**53:
        return "field 'steps' of another kind"
    return check_tests(fields, len(fields["preference"]))


def check_tests(fields: Mapping[str, Any], objectives: int) -> str | None:
    """Return what is wrong with the tests of a run; ``None`` when nothing is, or when there are none."""
    if (wrong := _wrong_field(fields, dict.fromkeys(TEST_POINTS, _TEST))) is not None:
        return wrong
    lists = [point[key] for name in TEST_POINTS if (point := fields.get(name)) for key in ("returns", "returns_se")]
    return None if all(len(numbers) == objectives for numbers in lists) else "a test without one return per weight"


def check_manifest(fields: Mapping[str, Any]) -> None:
    """Require that the fields of a manifest have the shapes that readers rely on; raise ``ValueError`` otherwise."""
    if (wrong := _wrong_field(fields, _MANIFEST)) is not None:
        raise ValueError(wrong)


def _wrong_field(fields: Mapping[Any, Any], shapes: Mapping[Any, Any]) -> str | None:
    """Return what is wrong with the first field that has not its shape; ``None`` when all have theirs."""
    for name, shape in shapes.items():
        if name is not ... and not _fits(fields.get(name, _MISSING), shape):
            return f"field {name!r} of another kind" if name in fields else f"no field {name!r}"
    others = [name for name in fields if name not in shapes] if ... in shapes else ()
    return next((f"field {name!r} of another kind" for name in others if not _fits(fields[name], shapes[...])), None)


def _fits(value: Any, shape: Any) -> bool:
    """Return whether JSON data has a shape."""
    if isinstance(shape, tuple):
        return type(value) in shape or any(_fits(value, one) for one in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits(item, shape[0]) for item in value)
    if isinstance(shape, dict):
        return isinstance(value, dict) and _wrong_field(value, shape) is None
    return type(value) is shape if isinstance(shape, type) else bool(value == shape)
