"""The store itself: create, open, write a run, tell what is there."""

import os
import secrets
import shutil
import time
from pathlib import Path
from typing import Any

from safetensors.torch import load
from torch import Tensor

from morl_recipes.store._errors import StoreError
from morl_recipes.store._files import digest, seal, sync_folder, unseal, write_synced
from morl_recipes.store._manifest import SCHEMA, Manifest
from morl_recipes.store._record import RunRecord, check_fields

MANIFEST, RUNS, STAGING = "manifest.json", "runs", "tmp"
KEEP_MANIFEST = "Restore it from a copy, or choose another folder (--out): without it nobody knows what the runs are."


class Store:
    """A folder of results that any number of processes may write to.

    A run is staged under a temporary name, flushed to disk and renamed in one step, so a reader sees all of it or
    nothing, whatever is killed when. A run that is done is never overwritten: of two writers the first wins. A failed
    run gives way to a later attempt.

    Args:
        path: Folder of the store.
        manifest: What the sweep set out to do. Use :meth:`create` or :meth:`open` rather than this constructor.

    Example:
        >>> import tempfile
        >>> manifest = Manifest(command="demo", environments={}, runs=())
        >>> store = Store.create(Path(tempfile.mkdtemp()) / "demo", manifest)
        >>> store.done()
        set()
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self._planned = {run.run_id for run in manifest.runs}

    @classmethod
    def create(cls, path: str | Path, manifest: Manifest) -> "Store":
        """Start a sweep's store, or take it up again when it holds the same sweep.

        Two processes may create the same store at once. A folder with another sweep, another version of morl-blocks
        or other files raises :class:`StoreError` and is left as it is.
        """
        path = Path(path)
        try:
            cls.check(path, manifest)  # before anything is made there
            (path / RUNS).mkdir(parents=True, exist_ok=True)
            (path / STAGING).mkdir(exist_ok=True)
            _create_once(path / MANIFEST, seal(manifest.to_json()), path / STAGING)
        except OSError as error:
            raise StoreError(f"{path}: cannot be written ({error.strerror}). Nothing was changed.") from error
        return cls._open_same(path, manifest)

    @classmethod
    def check(cls, path: str | Path, manifest: Manifest) -> "Store | None":
        """Refuse a folder that :meth:`create` would refuse; return the store when the sweep was started before."""
        path = Path(path)
        if (path / MANIFEST).exists():
            return cls._open_same(path, manifest)
        _refuse_strangers(path)
        return None

    @classmethod
    def _open_same(cls, path: Path, manifest: Manifest) -> "Store":
        """Open a store that must hold the sweep of a manifest."""
        store = cls.open(path)
        difference = manifest.difference(store.manifest)
        if difference is not None:
            raise StoreError(
                f"{path}: holds another sweep ({difference}). Choose another folder (--out); nothing was changed."
            )
        return store

    @classmethod
    def open(cls, path: str | Path) -> "Store":
        """Open an existing store; a missing, damaged or foreign manifest raises :class:`StoreError`."""
        path = Path(path)
        if not (path / MANIFEST).is_file():
            raise StoreError(f"{path}: not a result store (it has no {MANIFEST}).")
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
            ``True`` if the run is now this record, ``False`` if it was already there and was kept.
        """
        if record.run_id not in self._planned:
            raise ValueError(f"`run_id` must be one of the {len(self._planned)} planned runs, got {record.run_id!r}.")
        staged = self.path / STAGING / f"{record.run_id}.{os.getpid()}.{secrets.token_hex(4)}"
        try:
            staged.mkdir(parents=True)
            for name, content in record.files().items():
                write_synced(staged / name, content)
            sync_folder(staged)
            return self._publish(staged, record)
        except OSError as error:
            raise StoreError(
                f"{self.path}: cannot write run {record.run_id} ({error.strerror}). Runs already there are untouched."
            ) from error
        finally:
            shutil.rmtree(staged, ignore_errors=True)

    def _publish(self, staged: Path, record: RunRecord) -> bool:
        """Rename a staged run into place; renaming onto a folder with files fails, so nobody can be overwritten."""
        final = self.path / RUNS / record.run_id
        while True:
            if not final.exists():
                try:
                    staged.rename(final)
                except OSError:
                    if not final.exists():
                        raise
                else:
                    sync_folder(final.parent)
                    return True
            if self.read(record.run_id)["status"] == "done" or not self._move_failed_aside(final):
                return False

    def _move_failed_aside(self, final: Path) -> bool:
        """Remove a failed attempt; put it back if another writer has meanwhile replaced it by a run that is done."""
        aside = self.path / STAGING / f"{final.name}.{os.getpid()}.{secrets.token_hex(4)}.old"
        try:
            final.rename(aside)
        except FileNotFoundError:
            return True
        if unseal(aside / "run.json", schema=SCHEMA, advice=_again(aside))["status"] == "done" and not final.exists():
            aside.rename(final)
            return False
        shutil.rmtree(aside, ignore_errors=True)
        return True

    def run_ids(self) -> list[str]:
        """Return the ids of all planned runs that are there, done or failed, sorted; other folders do not count."""
        folder = self.path / RUNS
        there = {item.name for item in folder.iterdir() if item.is_dir()} if folder.is_dir() else set()
        return sorted(there & self._planned)

    def read(self, run_id: str) -> dict[str, Any]:
        """Return the fields of a run's ``run.json``; a damaged one or a file of the wrong size raises."""
        folder = self.path / RUNS / run_id
        for _ in range(20):
            before = _identity(folder)
            try:
                return self._read(folder)
            except StoreError:
                if before is not None and _identity(folder) == before:
                    raise
            time.sleep(0.01)  # another writer is replacing a failed attempt
        return self._read(folder)

    def _read(self, folder: Path) -> dict[str, Any]:
        """Read ``run.json`` once and compare the sizes of the files it names."""
        fields = unseal(folder / "run.json", schema=SCHEMA, advice=_again(folder))
        check_fields(str(folder / "run.json"), fields, _again(folder))
        for name, expected in fields["files"].items():
            size = (folder / name).stat().st_size if (folder / name).is_file() else None
            if size != expected["bytes"]:
                raise StoreError(
                    f"{folder / name}: damaged ({size} bytes, expected {expected['bytes']}). {_again(folder)}"
                )
        return fields

    def read_file(self, run_id: str, name: str) -> bytes:
        """Return a file of a run after checking its digest."""
        path = self.path / RUNS / run_id / name
        expected = self.read(run_id)["files"].get(name)
        if expected is None:
            raise StoreError(f"{path}: the run has no such file.")
        content = path.read_bytes()
        if digest(content) != expected["sha256"]:
            raise StoreError(f"{path}: damaged (its digest does not match). {_again(path.parent)}")
        return content

    def policy(self, run_id: str) -> dict[str, Tensor]:
        """Return the saved policy of a run as named tensors."""
        tensors: dict[str, Tensor] = load(self.read_file(run_id, "policy.safetensors"))
        return tensors

    def done(self) -> set[str]:
        """Return the ids of the runs that are done."""
        return {run_id for run_id in self.run_ids() if self.read(run_id)["status"] == "done"}

    def failed(self) -> dict[str, str]:
        """Return the ids of the runs that failed, with their reasons."""
        records = {run_id: self.read(run_id) for run_id in self.run_ids()}
        return {run_id: fields["reason"] for run_id, fields in records.items() if fields["status"] == "failed"}

    def missing(self) -> list[str]:
        """Return the ids of planned runs that are not there, in the order of the plan."""
        present = set(self.run_ids())
        return [run.run_id for run in self.manifest.runs if run.run_id not in present]

    def remove_leftovers(self, *, older_than: float = 86_400.0) -> int:
        """Remove what killed writers left behind.

        Args:
            older_than: Age in seconds below which a staged run may still be in the hands of a living writer.

        Returns:
            Number of leftovers removed.
        """
        limit, removed = time.time() - older_than, 0
        for item in (self.path / STAGING).glob("*"):
            if item.stat().st_mtime <= limit:
                shutil.rmtree(item) if item.is_dir() else item.unlink()
                removed += 1
        return removed


def _refuse_strangers(path: Path) -> None:
    """Refuse a folder with other things in it; empty folders of a creation that was killed are ours."""
    strangers = {item.name for item in path.iterdir()} - {RUNS, STAGING} if path.exists() else set()
    if (path / RUNS).is_dir() and any((path / RUNS).iterdir()):
        strangers.add(RUNS)
    if strangers and not (path / MANIFEST).exists():  # another process may just have made it
        raise StoreError(
            f"{path}: not a store and not empty (it holds {min(strangers)}, but no {MANIFEST}). "
            "Choose another folder (--out)."
        )


def _again(folder: Path) -> str:
    """Say what to do about a damaged run."""
    return f"Remove the folder {folder}: the same sweep then trains this run again."


def _identity(folder: Path) -> int | None:
    """Tell one folder of a name from the next one; ``None`` while there is none."""
    try:
        return folder.stat().st_ino
    except OSError:
        return None


def _create_once(path: Path, content: bytes, staging: Path) -> None:
    """Create a file with all of its content unless it exists; a hard link either appears whole or is refused."""
    staged = staging / f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}"
    try:
        write_synced(staged, content)
        os.link(staged, path)
        sync_folder(path.parent)
    except FileExistsError:
        pass
    finally:
        staged.unlink(missing_ok=True)
