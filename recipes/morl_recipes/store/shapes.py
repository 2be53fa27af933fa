"""The structure of a store's JSON: a digest proves that a file is intact, not who wrote it."""

from collections.abc import Callable, Mapping
from typing import Any

POINT_FIELDS = ("iteration", "steps", "returns")
"""Fields of a validation point besides its scores."""
TEST_POINTS = ("test_peak", "test_final")
"""Test scores of a run, in ``run.json`` or in a separate file; runs of older versions have none."""
FILES = HISTORY, POLICY = "history.csv", "policy.safetensors"
"""Files of a run besides ``run.json``."""

Rule = Callable[[Any], bool]


def _kind(*types: type) -> Rule:
    return lambda value: isinstance(value, types) and not isinstance(value, bool)


def _or_null(rule: Rule) -> Rule:
    return lambda value: value is None or rule(value)


def _list_of(rule: Rule) -> Rule:
    return lambda value: isinstance(value, list) and all(map(rule, value))


def _map_of(rule: Rule) -> Rule:
    return lambda value: isinstance(value, dict) and all(map(rule, value.values()))


_text, _whole, _mapping, _number = _kind(str), _kind(int), _kind(dict), _or_null(_kind(int, float))
_numbers, _words = _list_of(_number), _map_of(_text)


def _with_numbers(*lists: str) -> Rule:
    """Require a dictionary of numbers, and lists of numbers under these names."""
    return lambda value: (
        isinstance(value, dict)
        and all(_numbers(item) if key in lists else _number(item) for key, item in value.items())
    )


def _point(value: Any) -> bool:
    return value is None or (_with_numbers("returns")(value) and all(key in value for key in POINT_FIELDS))


def _file(entry: Any) -> bool:
    return isinstance(entry, dict) and _whole(entry.get("bytes")) and _text(entry.get("sha256"))


def _environment(value: Any) -> bool:
    if not isinstance(value, dict) or not value.get("objectives"):
        return False
    rules = {"low": _or_null(_numbers), "high": _or_null(_numbers), "objectives": _list_of(_text)}
    return all(rule(value.get(name)) for name, rule in rules.items())


_IDENTITY: dict[str, Rule] = {**dict.fromkeys(("run_id", "group", "method", "env"), _text), "seed": _whole}
_RUN: dict[str, Rule] = {
    **_IDENTITY,
    "reason": _text,
    "status": lambda value: value in ("done", "failed"),
    "preference": _numbers,
    "steps": lambda value: _whole(value) and 0 <= value < 2**53,
    "peak": _point,
    "final": _point,
    "recipe": _mapping,
    "files": lambda value: _map_of(_file)(value) and set(value) <= set(FILES),
}
_PLANNED: dict[str, Rule] = {
    **_IDENTITY,
    "preference": _list_of(_kind(int, float)),
    "steps": _whole,
    "recipe": _mapping,
}
_MANIFEST: dict[str, Rule] = {
    **dict.fromkeys(("command", "created"), _text),
    "versions": _words,
    "machine": _mapping,
    "environments": _map_of(_environment),
    "runs": _list_of(_mapping),
}
_LATER: dict[str, Rule] = {"training": _mapping, "plugins": _list_of(_words)}
"""Fields that are missing in manifests of older versions."""


def check_run(fields: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the fields of a ``run.json``; ``None`` when nothing is."""
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
    """Return what is wrong with the tests of a run; ``None`` when nothing is, or when there are none."""
    lists = ("returns", "returns_se")
    for name in TEST_POINTS:
        point = fields.get(name)
        if point is not None and not (
            _with_numbers(*lists)(point)
            and _whole(point.get("episodes"))
            and all(len(point.get(key, ())) == objectives for key in lists)
        ):
            return f"field {name!r} of another kind"
    return None


def check_manifest(fields: Mapping[str, Any]) -> None:
    """Require that the fields of a manifest have the types that readers rely on; raise ``ValueError`` otherwise."""
    wrong = _first(fields, _MANIFEST | {name: rule for name, rule in _LATER.items() if name in fields})
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
