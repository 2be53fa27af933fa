"""Where JSON values differ, and in words how two sweeps do."""

from collections.abc import Iterator, Mapping
from typing import Any

from morl_recipes.common.naming import some

SHOWN = 4
AXES = ("environment ", "row ", "preference ", "seed ")

Fields = Mapping[str, Any]


def changes(ours: Any, theirs: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the path of each value in which two nested ones differ (``mu.base.start``), with both or ``None``."""
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        for key in dict.fromkeys((*ours, *theirs)):
            below = f"{path}.{key}" if path else str(key)
            if key in ours and key in theirs:
                yield from changes(ours[key], theirs[key], below)
            else:
                yield below, ours.get(key), theirs.get(key)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, pair in enumerate(zip(ours, theirs, strict=True)):
            yield from changes(*pair, f"{path}[{index}]")
    elif ours != theirs:
        yield path, ours, theirs


def describe_difference(ours: Fields, theirs: Fields) -> str | None:
    """Return the differences between the fields of two manifests, ours first; ``None`` if they are of one sweep."""
    versions = [manifest["versions"].get("morl-blocks") for manifest in (ours, theirs)]
    if versions[0] != versions[1]:
        return f"morl-blocks {versions[0]} instead of {versions[1]}"
    # Older manifests lack the digest of a user's file, but the id of a run depends on the file anyway.
    mine, known = ({run["run_id"]: {**run, "plugin": ""} for run in one["runs"]} for one in (ours, theirs))
    if mine == known and ours["environments"] == theirs["environments"]:
        return None
    mine_planned, known_planned = _planned(ours), _planned(theirs)
    found = [f"with {name}" for name in mine_planned if name.startswith(AXES) and name not in known_planned]
    found += [f"without {name}" for name in known_planned if name.startswith(AXES) and name not in mine_planned]
    for name in [name for name in mine_planned if name in known_planned]:  # older manifests record fewer settings
        pairs = changes(mine_planned[name], known_planned[name], name)
        found += [f"{path} {one} instead of {other}" for path, one, other in pairs]
    changed = [key for key in mine.keys() | known.keys() if mine.get(key) != known.get(key)]
    return some(found, SHOWN, between="; ") or f"other planned runs, first {min(changed)}"


def _planned(manifest: Fields) -> dict[str, Any]:
    """Return what a sweep plans, by the words for it."""
    found: dict[str, Any] = {f"environment {name}": info for name, info in manifest["environments"].items()}
    steps = {run["steps"] for run in manifest["runs"]}
    found |= {**({"total_steps": steps.pop()} if len(steps) == 1 else {}), **manifest["training"]}
    for run in manifest["runs"]:
        row = f"row {run['group']}/{run['method']}"
        found |= {row: run["recipe"], f"preference {','.join(f'{weight:g}' for weight in run['preference'])}": ""}
        found |= {f"seed {run['seed']}": "", **({f"file of {row}": run["plugin"][:8]} if run["plugin"] else {})}
    return found
