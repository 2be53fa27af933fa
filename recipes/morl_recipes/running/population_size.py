"""What a sweep decided when it first started, kept in its folder: a continued sweep forms the same populations."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from morl_recipes.common import atomic_files
from morl_recipes.common.errors import StoreError
from morl_recipes.store.files import seal, unseal
from morl_recipes.store.store import POPULATIONS, POPULATIONS_SCHEMA


def pinned_size(store: Path) -> int | None:
    """Return the size of populations that a store's sweep was started with, if it was."""
    path = store / POPULATIONS
    return int(unseal(path, schema=POPULATIONS_SCHEMA)["size"]) if path.exists() else None


def pin_size(store: Path, size: int) -> int:
    """Keep the size of populations for all times, unless one is kept already; return the one that is kept."""
    kept = pinned_size(store)
    if kept is not None:
        return kept
    try:
        atomic_files.replace(
            atomic_files.inside(store, POPULATIONS), seal({"schema": POPULATIONS_SCHEMA, "size": size})
        )
    except OSError as error:
        raise StoreError(f"{store}: cannot be written ({error.strerror}). Nothing was changed.") from error
    return size


def size_note(asked: int | None, kept: int) -> list[str]:
    """Return a sentence when a sweep asks for another size of populations than it was started with.

    Example:
        >>> size_note(1, 8)
        ['Populations keep the size 8 that the sweep was started with: `population` = 1 has no effect.']
    """
    if asked is None or asked == kept:
        return []
    return [f"Populations keep the size {kept} that the sweep was started with: `population` = {asked} has no effect."]


@contextmanager
def alone(store: Path) -> Iterator[None]:
    """Let one process at a time work on a sweep; the lock ends with the process, even when it is killed."""
    lock = FileLock(atomic_files.inside(store, ".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise StoreError(f"{store}: another process is working on this sweep. Wait for it, or stop it.") from None
    except OSError as error:
        raise StoreError(f"{store}: cannot be written ({error.strerror}). Nothing was changed.") from error
    try:
        yield
    finally:
        lock.release()
