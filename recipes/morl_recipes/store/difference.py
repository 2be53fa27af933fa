"""Describe in words how two sweeps differ, from their manifests as JSON."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from morl_recipes.common.naming import some

SHOWN = 4

Fields = Mapping[str, Any]


def describe_difference(ours: Fields, theirs: Fields) -> str | None:
    """Return the differences between the fields of two manifests, ours first; ``None`` if they are equal."""
    versions = [manifest["versions"].get("morl-blocks") for manifest in (ours, theirs)]
    if versions[0] != versions[1]:
        return f"morl-blocks {versions[0]} instead of {versions[1]}"
    if ours["environments"] != theirs["environments"]:
        names = [", ".join(sorted(manifest["environments"])) for manifest in (ours, theirs)]
        same = "other objectives or bounds"
        return same if names[0] == names[1] else f"environments {names[0]} instead of {names[1]}"
    # Older manifests lack the digest of a user's file, but the id of a run depends on the file anyway.
    mine, known = ({run["run_id"]: {**run, "plugin": ""} for run in fields["runs"]} for fields in (ours, theirs))
    if mine == known:
        return None
    settings = [{**_steps(manifest["runs"]), **manifest["training"]} for manifest in (ours, theirs)]
    both = settings[0].keys() & settings[1].keys()  # older manifests only record the steps
    changes = [change for change in _changes(*settings) if change.split()[0] in both]
    changes += _axes(ours["runs"], theirs["runs"]) + _recipes(ours["runs"], theirs["runs"])
    changed = [key for key in mine.keys() | known.keys() if mine.get(key) != known.get(key)]
    return some(changes, SHOWN, between="; ") or f"other planned runs, first {min(changed)}"


def _steps(runs: Sequence[Fields]) -> dict[str, Any]:
    steps = {run["steps"] for run in runs}
    return {"total_steps": steps.pop()} if len(steps) == 1 else {}


def _axes(ours: Sequence[Fields], theirs: Sequence[Fields]) -> list[str]:
    """Compare the factors of the two products: rows, preferences and seeds."""
    axes: dict[str, Callable[[Fields], str]] = {
        "rows": lambda run: str(run["method"]),
        "preferences": lambda run: ",".join(f"{weight:g}" for weight in run["preference"]),
        "seeds": lambda run: str(run["seed"]),
    }
    found = []
    for name, key in axes.items():
        mine, known = (list(dict.fromkeys(map(key, runs))) for runs in (ours, theirs))
        added = [value for value in mine if value not in known]
        gone = [value for value in known if value not in mine]
        parts = [f"{word} {some(names, SHOWN)}" for word, names in (("with", added), ("without", gone)) if names]
        found += [f"{name} {' and '.join(parts)}"] if parts else []
    return found


def _recipes(ours: Sequence[Fields], theirs: Sequence[Fields]) -> list[str]:
    """Compare the recipes, and the users' files, of rows that both have."""
    mine, known = ({(run["group"], run["method"]): run for run in runs} for runs in (ours, theirs))
    found = []
    for key in [key for key in mine if key in known]:
        changes = _changes(_flat(mine[key]["recipe"]), _flat(known[key]["recipe"]))
        if not changes and mine[key]["plugin"] != known[key]["plugin"] and known[key]["plugin"]:
            changes = ["another text of its file"]
        found += [f"{key[0]}/{key[1]}: {', '.join(changes[:SHOWN])}"] if changes else []
    return found


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """Return every number of a nested recipe by its path.

    Example:
        >>> _flat({"mu": {"type": "Fixed", "mu": 1.0}})
        {'mu.type': 'Fixed', 'mu.mu': 1.0}
    """
    if not isinstance(value, Mapping):
        return {path: value}
    items = [_flat(item, f"{path}.{key}" if path else str(key)) for key, item in value.items()]
    return {key: number for item in items for key, number in item.items()}


def _changes(ours: Fields, theirs: Fields) -> list[str]:
    """List the keys of two dictionaries whose values differ."""
    keys = dict.fromkeys((*ours, *theirs))
    return [f"{key} {ours.get(key)} instead of {theirs.get(key)}" for key in keys if ours.get(key) != theirs.get(key)]
