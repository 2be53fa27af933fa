"""Where JSON values differ, and in words how two sweeps do."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from morl_recipes.common.naming import some

SHOWN = 4

Fields = Mapping[str, Any]


def changes(ours: Any, theirs: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the path of each value in which two nested ones differ, with both; a missing one is ``None``.

    Example:
        >>> list(changes({"mu": {"type": "Fixed", "mu": 1.0}}, {"mu": {"type": "Fixed", "mu": 2.0}}))
        [('mu.mu', 1.0, 2.0)]
    """
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
    settings = [_settings(manifest) for manifest in (ours, theirs)]
    both = settings[0].keys() & settings[1].keys()  # older manifests only record the steps
    found = [words for words in _in_words(*settings) if words.split()[0] in both]
    found += _axes(ours["runs"], theirs["runs"]) + _recipes(ours["runs"], theirs["runs"])
    first = min(key for key in mine.keys() | known.keys() if mine.get(key) != known.get(key))
    return some(found, SHOWN, between="; ") or f"other planned runs, first {first}"


def _in_words(ours: Any, theirs: Any) -> list[str]:
    return [f"{path} {one} instead of {other}" for path, one, other in changes(ours, theirs)]


def _settings(manifest: Fields) -> Fields:
    steps = {run["steps"] for run in manifest["runs"]}
    return {**({"total_steps": steps.pop()} if len(steps) == 1 else {}), **manifest["training"]}


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
        added, gone = [one for one in mine if one not in known], [one for one in known if one not in mine]
        parts = [f"{word} {some(values, SHOWN)}" for word, values in (("with", added), ("without", gone)) if values]
        found += [f"{name} {' and '.join(parts)}"] if parts else []
    return found


def _recipes(ours: Sequence[Fields], theirs: Sequence[Fields]) -> list[str]:
    """Compare the recipes, and the users' files, of rows that both have."""
    mine, known = ({(run["group"], run["method"]): run for run in runs} for runs in (ours, theirs))
    found = []
    for key in [key for key in mine if key in known]:
        words = _in_words(mine[key]["recipe"], known[key]["recipe"])
        if not words and mine[key]["plugin"] != known[key]["plugin"] and known[key]["plugin"]:
            words = ["another text of its file"]
        found += [f"{key[0]}/{key[1]}: {', '.join(words[:SHOWN])}"] if words else []
    return found
