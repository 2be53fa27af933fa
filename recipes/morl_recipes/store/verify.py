"""Check a whole store: every file undamaged, of its own run, and of versions that agree."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from morl_recipes.common import checks
from morl_recipes.common.errors import StoreError
from morl_recipes.store.files import unseal
from morl_recipes.store.run_folder import again, read_history, read_policy, read_tests
from morl_recipes.store.shapes import POLICY
from morl_recipes.store.store import CHECKPOINTS, POPULATIONS, POPULATIONS_SCHEMA, RUNS, TEMPORARY, Store
from morl_recipes.store.versions import DECISIVE, dynamics_of


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
    path = checks.path("folder", folder)
    try:
        store = Store.open(path)
    except StoreError as error:
        return Verified(path, 0, 0, (Finding(str(path), str(error)),))
    findings = list(_others(store))
    versions: Counter[tuple[str, str]] = Counter()
    there = 0
    for run_id, fields in store.records():
        there += 1
        own = store.folder(run_id)
        try:
            if isinstance(fields, StoreError):
                raise fields
            read_history(own, fields)
            if POLICY in fields["files"]:
                read_policy(own, fields)
            read_tests(own, fields)
            if fields["recipe"] != store.planned[run_id].recipe:
                raise StoreError(f"{own}: has another recipe than the plan. {again(own)}")
        except StoreError as problem:
            findings.append(Finding(str(own), str(problem)))
        else:
            known = fields.get("versions", {})  # runs of older versions tell less
            versions.update((name, known[name]) for name in (*DECISIVE, *dynamics_of(fields["env"])) if name in known)
    several = [name for name, count in Counter(name for name, _ in versions).items() if count > 1]
    if several:
        counts = sorted((pair, count) for pair, count in versions.items() if pair[0] in several)
        each = "; ".join(f"{count} by {' '.join(pair)}" for pair, count in counts)
        what = f"its runs were trained by several versions ({each}). Report this with their numbers."
        findings.append(Finding(str(path), what))
    return Verified(path, len(store.planned), there, tuple(findings))


def _others(store: Store) -> Iterator[Finding]:
    """Report what is wrong beside the runs."""
    for name in (RUNS, TEMPORARY, CHECKPOINTS):
        if (store.path / name).is_symlink():
            what = "is a link, through which a sweep does not write. Replace it by a folder."
            yield Finding(str(store.path / name), what)
    file = store.path / POPULATIONS
    if file.exists():
        try:
            unseal(file, schema=POPULATIONS_SCHEMA, advice="Remove it; the sweep then chooses the size again.")
        except StoreError as error:
            yield Finding(str(file), str(error))
    folder = store.path / RUNS
    for item in sorted(folder.iterdir()) if folder.is_dir() else ():
        if item.name not in store.planned:
            yield Finding(str(item), "is not a run of this sweep and is ignored. Move it elsewhere.")
        elif not item.is_dir():
            yield Finding(str(item), "is not a folder. Remove it: the same sweep then trains this run again.")
