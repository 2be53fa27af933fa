"""Check a whole store: every file undamaged, of its own run, and of versions that agree."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morl_recipes.common.errors import StoreError
from morl_recipes.store.files import unseal
from morl_recipes.store.histories import read_history
from morl_recipes.store.run_folder import again
from morl_recipes.store.shapes import HISTORY, POLICY
from morl_recipes.store.store import CHECKPOINTS, POPULATIONS, POPULATIONS_SCHEMA, RUNS, TEMPORARY, Store
from morl_recipes.store.tests import read_tests
from morl_recipes.store.versions import DECISIVE, dynamics_of

FOLDERS = (RUNS, TEMPORARY, CHECKPOINTS)


@dataclass(frozen=True)
class Finding:
    """A problem of a store: the file or folder, and sentences with the problem and advice."""

    where: str
    what: str

    def __str__(self) -> str:
        """Return a line."""
        return self.what if self.what.startswith(self.where) else f"{self.where}: {self.what}"


@dataclass(frozen=True)
class Verified:
    """Outcome of a check: the folder, the number of planned and of existing runs (damaged or not), and all findings."""

    path: Path
    planned: int
    there: int
    findings: tuple[Finding, ...]


def verify(folder: str | Path) -> Verified:
    """Check every file of a store against its digest, its run and the plan; nothing is changed.

    Args:
        folder: The store. If its manifest cannot be read, that is the only finding.

    Returns:
        Every finding, with advice.
    """
    path = Path(folder)
    try:
        store = Store.open(path)
    except StoreError as error:
        return Verified(path, 0, 0, (Finding(str(path), str(error)),))
    findings = [*_links(path), *_populations(path), *_unplanned(store)]
    versions: Counter[tuple[str, str]] = Counter()
    recipes = {run.run_id: run.recipe for run in store.manifest.runs}
    there = 0
    for run_id, fields in store.records():
        there += 1
        where = str(path / RUNS / run_id)
        try:
            if isinstance(fields, StoreError):
                raise fields
            _run(store, fields)
            if fields["recipe"] != recipes[run_id]:
                raise StoreError(f"{where}: has another recipe than the plan. {again(path / RUNS / run_id)}")
            versions.update(_decisive(fields))
        except StoreError as problem:
            findings.append(Finding(where, str(problem)))
    return Verified(path, len(recipes), there, (*findings, *_mixed(path, versions)))


def _run(store: Store, fields: dict[str, Any]) -> None:
    """Read all files of a run."""
    if HISTORY not in fields["files"]:
        folder = store.path / RUNS / fields["run_id"]
        raise StoreError(f"{folder}: has no history. {again(folder)}")
    read_history(store, fields)
    if POLICY in fields["files"]:
        store.policy(fields["run_id"])
    read_tests(store, fields)


def _links(path: Path) -> Iterator[Finding]:
    """Report folders of a store that are links."""
    for name in FOLDERS:
        if (path / name).is_symlink():
            yield Finding(str(path / name), "is a link, through which a sweep does not write. Replace it by a folder.")


def _populations(path: Path) -> Iterator[Finding]:
    file = path / POPULATIONS
    if file.exists():
        try:
            unseal(file, schema=POPULATIONS_SCHEMA, advice="Remove it; the sweep then chooses the size again.")
        except StoreError as error:
            yield Finding(str(file), str(error))


def _unplanned(store: Store) -> Iterator[Finding]:
    """Report entries of the folder of runs that are not planned runs."""
    known = {run.run_id for run in store.manifest.runs}
    folder = store.path / RUNS
    names = [item.name for item in folder.iterdir()] if folder.is_dir() else []
    for name in sorted(set(names) - known):
        yield Finding(str(folder / name), "is not a run of this sweep and is ignored. Move it elsewhere.")
    for name in sorted(name for name in names if name in known and not (folder / name).is_dir()):
        yield Finding(str(folder / name), "is not a folder. Remove it: the same sweep then trains this run again.")


def _decisive(fields: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the packages that determine the numbers of a run, with their versions, if they are recorded."""
    versions = fields.get("versions", {})
    for name in (*DECISIVE, *dynamics_of(fields["env"])):
        if name in versions:
            yield name, versions[name]


def _mixed(path: Path, versions: "Counter[tuple[str, str]]") -> Iterator[Finding]:
    """Report runs that were trained by different versions; runs without recorded versions are left out."""
    several = [name for name, count in Counter(name for name, _ in versions).items() if count > 1]
    if several:
        counts = sorted((pair, count) for pair, count in versions.items() if pair[0] in several)
        each = "; ".join(f"{count} by {' '.join(pair)}" for pair, count in counts)
        yield Finding(str(path), f"its runs were trained by several versions ({each}). Report this with their numbers.")
