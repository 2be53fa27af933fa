"""Write a file whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from morl_recipes.store import StoreError


@contextmanager
def staged(path: Path) -> Iterator[Path]:
    """Give a temporary name to write to, and rename it to ``path`` when all went well.

    What cannot be written raises :class:`~morl_recipes.store.StoreError` with the name that the user knows, and what
    was there before is kept.
    """
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error.strerror or error}).") from error
    finally:
        with suppress(OSError):
            temporary.unlink()
