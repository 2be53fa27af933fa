"""What the JSON of a store must look like: a digest proves that a file is whole, not who wrote it."""

from collections.abc import Callable, Mapping
from typing import Any

POINT_FIELDS = ("iteration", "steps", "returns")
"""What a validation point has besides its scores."""
TEST_POINTS = ("test_peak", "test_final")
"""Test scores of a run, in ``run.json`` or in a file of their own; runs of older versions have none."""
FILES = HISTORY, POLICY = "history.csv", "policy.safetensors"
"""Files of a run besides ``run.json``."""

Rule = Callable[[Any], bool]


def _text(value: object) -> bool:
    return isinstance(value, str)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: object) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _numbers(value: object) -> bool:
    return isinstance(value, list) and all(map(_number, value))


def _words(value: object) -> bool:
    return isinstance(value, dict) and all(map(_text, value.values()))


def _point(value: object) -> bool:
    if value is None:
        return True
    if not isinstance(value, dict) or not all(key in value for key in POINT_FIELDS):
        return False
    return all(_numbers(item) if key == "returns" else _number(item) for key, item in value.items())


def _files(value: object) -> bool:
    return isinstance(value, dict) and all(
        name in FILES and isinstance(entry, dict) and _whole(entry.get("bytes")) and _text(entry.get("sha256"))
        for name, entry in value.items()
    )


_RUN: dict[str, Rule] = {
    **dict.fromkeys(("run_id", "group", "method", "env", "reason"), _text),
    "status": lambda value: value in ("done", "failed"),
    "preference": _numbers,
    "seed": _whole,
    "steps": lambda value: _whole(value) and 0 <= value < 2**53,
    "peak": _point,
    "final": _point,
    "recipe": lambda value: isinstance(value, dict),
    "files": _files,
}
_PLANNED: dict[str, Rule] = {
    **dict.fromkeys(("run_id", "group", "method", "env"), _text),
    "preference": lambda value: _numbers(value) and None not in value,
    "seed": _whole,
    "steps": _whole,
    "recipe": lambda value: isinstance(value, dict),
}
_MANIFEST: dict[str, Rule] = {
    **dict.fromkeys(("command", "created"), _text),
    "versions": _words,
    "machine": lambda value: isinstance(value, dict),
    "environments": lambda value: isinstance(value, dict) and all(map(_environment, value.values())),
    "runs": lambda value: isinstance(value, list) and all(isinstance(run, dict) for run in value),
}
_LATER: dict[str, Rule] = {
    "training": lambda value: isinstance(value, dict),
    "plugins": lambda value: isinstance(value, list) and all(map(_words, value)),
}


def _environment(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    bounds = all(value.get(name) is None or _numbers(value[name]) for name in ("low", "high"))
    names = value.get("objectives")
    return bounds and isinstance(names, list) and bool(names) and all(map(_text, names))


def check_run(fields: Mapping[str, Any]) -> str | None:
    """Say what is wrong with the fields of a ``run.json``; ``None`` when nothing is."""
    wrong = _first(fields, _RUN)
    if wrong is not None:
        return wrong
    points = [fields["peak"], fields["final"]]
    if fields["status"] == "done" and None in points:
        return "done without a validation"
    if any(point is not None and len(point["returns"]) != len(fields["preference"]) for point in points):
        return "not one return per weight"
    if not _words(fields.get("versions", {})):
        return "field 'versions' of another kind"
    return check_tests(fields, len(fields["preference"]))


def check_tests(fields: Mapping[str, Any], objectives: int) -> str | None:
    """Say what is wrong with the tests of a run; ``None`` when nothing is, or when there are none."""
    for name in TEST_POINTS:
        point = fields.get(name)
        if point is not None and not _test(point, objectives):
            return f"field {name!r} of another kind"
    return None


def _test(point: object, objectives: int) -> bool:
    if not isinstance(point, dict) or not _whole(point.get("episodes")):
        return False
    lists = [point.get("returns"), point.get("returns_se")]
    return all(isinstance(item, list) and _numbers(item) and len(item) == objectives for item in lists) and all(
        _number(item) for key, item in point.items() if key not in ("returns", "returns_se")
    )


def check_manifest(fields: Mapping[str, Any]) -> None:
    """Require that the fields of a manifest are of the kinds that readers rely on; raise ``ValueError`` otherwise."""
    later = {name: rule for name, rule in _LATER.items() if name in fields}
    wrong = _first(fields, _MANIFEST | later)
    for run in fields["runs"] if wrong is None else ():
        wrong = wrong or _first(run, _PLANNED)
    if wrong is not None:
        raise ValueError(wrong)


def _first(fields: Mapping[str, Any], rules: Mapping[str, Rule]) -> str | None:
    for name, rule in rules.items():
        if name not in fields:
            return f"no field {name!r}"
        if not rule(fields[name]):
            return f"field {name!r} of another kind"
    return None
