"""The store: create it, open it, write a run, list the runs."""

import math
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from morl_recipes.common import atomic_files, checks
from morl_recipes.common.errors import StoreError
from morl_recipes.store.files import seal, unseal
from morl_recipes.store.manifest import SCHEMA, Manifest
from morl_recipes.store.record import RunRecord
from morl_recipes.store.run_folder import RUN, again, read_fields, read_policy, write_test

MANIFEST, RUNS, TEMPORARY = "manifest.json", "runs", "tmp"
CHECKPOINTS, POPULATIONS, POPULATIONS_SCHEMA = "checkpoints", "populations.json", 1
"""Files of a sweep beside its runs; the schema is that of the file."""
KEEP_MANIFEST = "Restore it from a copy, or choose another folder (--out): without it the runs cannot be identified."
OF_FRONT = "store"
"""Folder of the store of a front's training, beside the front."""


class Store:
    """A folder of results that any number of processes may write to.

    Writes are atomic: a run is written under a temporary name, flushed to disk and renamed, so a reader sees the
    complete run or none, even if a process is killed. A finished run is never overwritten: of two writers the first one
    counts. A failed run is replaced by a later attempt.

    Use :meth:`create` or :meth:`open` rather than this constructor.

    Attributes:
        path: Folder of the store.
        manifest: The plan of the sweep.
        planned: The runs of the plan by id.

    Example:
        >>> import tempfile
        >>> manifest = Manifest(command="demo", environments={}, runs=())
        >>> store = Store.create(Path(tempfile.mkdtemp()) / "demo", manifest)
        >>> store.done()
        set()
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path, self.manifest = path, manifest
        self.planned = {run.run_id: run for run in manifest.runs}

    @classmethod
    def create(cls, path: str | Path, manifest: Manifest) -> "Store":
        """Create the store of a sweep, or open it when it holds the same sweep.

        Two processes may create the same store at once. A folder with another sweep, another version of morl-blocks or
        other files raises :class:`StoreError` and is not changed.
        """
        path = checks.path("path", path)
        checks.instance("manifest", manifest, Manifest, "be a Manifest")
        try:
            store = cls.check(path, manifest)  # before anything is written
            for name in (RUNS, TEMPORARY):
                atomic_files.make_folder(path, name)
            if store is not None:
                return store
            atomic_files.create_once(path / MANIFEST, seal(manifest.to_json()), path / TEMPORARY)
        except OSError as error:
            raise StoreError(f"{path}: cannot be written ({error.strerror}). Nothing was changed.") from error
        return cls.check(path, manifest) or cls.open(path)

    @classmethod
    def check(cls, path: str | Path, manifest: Manifest) -> "Store | None":
        """Raise for a folder that :meth:`create` would not accept; return the store if the sweep was started before."""
        path = Path(path)
        if (path / MANIFEST).exists():
            store = cls.open(path)
            difference = manifest.difference(store.manifest)
            if difference is not None:
                raise StoreError(
                    f"{path}: holds another sweep ({difference}). Choose another folder (--out); nothing was changed."
                )
            return store
        others = {item.name for item in path.iterdir()} - {RUNS, TEMPORARY} if path.exists() else set()
        if (path / RUNS).is_dir() and any((path / RUNS).iterdir()):  # empty folders are those of a killed creation
            others.add(RUNS)
        if others and not (path / MANIFEST).exists():  # another process may have just created it
            raise StoreError(
                f"{path}: not a store and not empty (it holds {min(others)}, but no {MANIFEST}). "
                "Choose another folder (--out)."
            )
        return None

    @classmethod
    def open(cls, path: "str | Path | Store") -> "Store":
        """Open an existing store, or return an open one; a missing or damaged manifest raises :class:`StoreError`."""
        if isinstance(path, Store):
            return path
        path = checks.path("path", path)
        if not (path / MANIFEST).is_file():
            front = f"; that of the front is {path / OF_FRONT}" if (path / OF_FRONT / MANIFEST).is_file() else ""
            problem = f"it has no {MANIFEST}{front}" if path.exists() else "there is no such folder"
            raise StoreError(f"{path}: not a result store ({problem}).")
        fields = unseal(path / MANIFEST, schema=SCHEMA, advice=KEEP_MANIFEST)
        try:
            return cls(path, Manifest.from_json(fields))
        except StoreError as error:
            raise StoreError(f"{path / MANIFEST}: {error}") from error

    def write(self, record: RunRecord) -> bool:
        """Add a finished run.

        Args:
            record: The run; its id must be in the manifest.

        Returns:
            ``True`` if the run is now this record, ``False`` if it already existed and was kept.
        """
        checks.instance("record", record, RunRecord, "be a RunRecord")
        if record.run_id not in self.planned:
            raise ValueError(f"`run_id` must be one of the {len(self.planned)} planned runs, got {record.run_id!r}.")
        atomic_files.inside(self.path, RUNS)
        temporary = atomic_files.inside(self.path, TEMPORARY) / atomic_files.unique(record.run_id)
        try:
            temporary.mkdir(parents=True)
            for name, content in record.files().items():
                atomic_files.create(temporary / name, content)
            atomic_files.sync_folder(temporary)
            return self._rename(temporary, record)
        except OSError as error:
            raise StoreError(
                f"{self.path}: cannot write run {record.run_id} ({error.strerror}). Runs already there are untouched."
            ) from error
        finally:
            atomic_files.remove(temporary)

    def _rename(self, temporary: Path, record: RunRecord) -> bool:
        """Move a run into place; renaming onto a folder with files fails, so no run can be overwritten."""
        final = atomic_files.inside(self.path, RUNS, record.run_id)
        while True:
            if not final.exists():
                try:
                    temporary.rename(final)
                except OSError:
                    if not final.exists():
                        raise
                else:
                    atomic_files.sync_folder(final.parent)
                    return True
            if self.read(record.run_id)["status"] == "done" or not self._move_failed_aside(final):
                return False

    def _move_failed_aside(self, final: Path) -> bool:
        """Remove a failed attempt; restore it if another writer has meanwhile replaced it by a finished run."""
        aside = self.path / TEMPORARY / f"{atomic_files.unique(final.name)}.old"
        try:
            final.rename(aside)
        except FileNotFoundError:
            return True
        if unseal(aside / RUN, schema=SCHEMA, advice=again(aside))["status"] == "done" and not final.exists():
            aside.rename(final)
            return False
        atomic_files.remove(aside)
        return True

    def folder(self, run_id: str) -> Path:
        """Return the folder of a run."""
        return self.path / RUNS / run_id

    def run_ids(self) -> list[str]:
        """Return the ids of all planned runs in the store, done or failed, sorted; other folders are ignored."""
        folder = self.path / RUNS
        if not folder.is_dir():
            return []
        with os.scandir(folder) as items:
            return sorted(item.name for item in items if item.name in self.planned and item.is_dir())

    def read(self, run_id: str) -> dict[str, Any]:
        """Return the fields of a run's ``run.json``; damaged files and those of another run raise ``StoreError``."""
        if checks.text("run_id", run_id) not in self.planned:
            raise StoreError(f"{self.path}: `run_id` must be one of its {len(self.planned)} runs, got {run_id!r}.")
        folder, planned = self.folder(run_id), self.planned[run_id]
        for _ in range(20):
            before = atomic_files.identity(folder)
            try:
                return read_fields(folder, planned)
            except StoreError:
                if before is not None and atomic_files.identity(folder) == before:
                    raise
            time.sleep(0.01)  # another writer is replacing a failed attempt
        return read_fields(folder, planned)

    def records(self) -> Iterator[tuple[str, dict[str, Any] | StoreError]]:
        """Yield every run in the store: its id with the fields of its ``run.json``, or with its problem."""
        for run_id in self.run_ids():
            try:
                yield run_id, self.read(run_id)
            except StoreError as problem:
                yield run_id, problem

    def policy(self, run_id: str) -> dict[str, Tensor]:
        """Return the saved policy of a run as named tensors."""
        fields = self.read(run_id)
        return read_policy(self.folder(run_id), fields)

    def write_test(self, run_id: str, points: Mapping[str, Any]) -> None:
        """Write the test scores of a run atomically; its other files are not changed."""
        write_test(atomic_files.inside(self.path, RUNS, run_id), self.read(run_id), points)

    def statuses(self) -> dict[str, dict[str, Any]]:
        """Return the fields of all runs in the store; damaged ones raise one error that counts them."""
        found = dict(self.records())
        problems = [fields for fields in found.values() if isinstance(fields, StoreError)]
        if problems:
            more = f" {len(problems) - 1} more are damaged: morl-blocks verify {self.path}" if problems[1:] else ""
            raise StoreError(f"{problems[0]}{more}")
        return {run_id: fields for run_id, fields in found.items() if not isinstance(fields, StoreError)}

    def done(self) -> set[str]:
        """Return the ids of the runs that are done."""
        return {run_id for run_id, fields in self.statuses().items() if fields["status"] == "done"}

    def failed(self) -> dict[str, str]:
        """Return the ids of the runs that failed, with their reasons."""
        return {run_id: fields["reason"] for run_id, fields in self.statuses().items() if fields["status"] == "failed"}

    def missing(self) -> list[str]:
        """Return the ids of missing planned runs, in the order of the plan."""
        present = set(self.run_ids())
        return [run_id for run_id in self.planned if run_id not in present]

    def remove_leftovers(self, *, older_than: float = 86_400.0) -> int:
        """Remove temporary files of killed writers that are older than some seconds; return how many there were."""
        checks.between("older_than", older_than, 0, math.inf)
        return atomic_files.remove_leftovers(atomic_files.inside(self.path, TEMPORARY), older_than)
