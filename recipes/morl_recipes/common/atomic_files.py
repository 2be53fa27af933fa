"""Atomic writes: a file is written completely or not at all, flushed to disk, and never written through a link.

All files of the package are written here. A store may be untrusted: a link in it must not make the package write or
remove files elsewhere.
"""

import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from morl_recipes.common.errors import StoreError

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def inside(folder: Path, *names: str) -> Path:
    """Return a path below a folder; a link on the way, the last name included, raises :class:`StoreError`.

    The folder itself may be a link, because the user has chosen it.
    """
    path = folder
    for name in names:
        if not name or name in (".", "..") or Path(name).name != name:
            raise StoreError(f"{folder}: {name!r} is no name of a file in it. Nothing was written.")
        path = path / name
        if path.is_symlink():
            raise StoreError(
                f"{path}: is a link, and nothing is written through one. Remove it, or choose another folder (--out)."
            )
    return path


def make_folder(folder: Path, *names: str) -> Path:
    """Create folders below a folder, none of them a link; return the last one."""
    path = inside(folder, *names)
    path.mkdir(parents=True, exist_ok=True)
    return path


def create(path: Path, content: bytes) -> None:
    """Write a new file and wait until the disk has it; an existing file or link is an error."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, 0o666), "wb") as file:
        _write(file.fileno(), content)
        os.fsync(file.fileno())


def replace(path: Path, content: bytes) -> None:
    """Write a file whole: a crash leaves the old one or the new one. One process at a time may write it."""
    temporary = path.with_name(f".{path.name}.tmp")
    with suppress(FileNotFoundError):
        temporary.unlink()  # left by a killed process
    try:
        create(temporary, content)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(path.parent)


def create_once(path: Path, content: bytes, scratch: Path) -> None:
    """Create a file whole unless it exists, by a hard link; ``scratch`` is a folder on the same file system."""
    temporary = scratch / unique(path.name)
    try:
        create(temporary, content)
        os.link(temporary, path)
        sync_folder(path.parent)
    except FileExistsError:
        pass
    finally:
        temporary.unlink(missing_ok=True)


def create_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Create a folder with all of its files or not at all; a folder that is not empty raises :class:`StoreError`."""
    temporary = path.absolute().with_name(f".{unique(path.absolute().name)}")
    try:
        temporary.mkdir(parents=True)
        for name, content in files.items():
            create(temporary / name, content)
        sync_folder(temporary)
        temporary.rename(path.absolute())  # fails if the folder has files
        sync_folder(temporary.parent)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error.strerror or error}). Nothing was changed.") from error
    finally:
        remove(temporary)


@contextmanager
def staged(path: Path) -> Iterator[Path]:
    """Yield a temporary name to write to, and rename it to ``path`` at the end.

    After an error the old file is kept, and :class:`StoreError` contains the name that the user knows. The temporary
    name is random, so that nobody can create a link there in advance.
    """
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.{secrets.token_hex(8)}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with temporary.open("r+b") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error.strerror or error}).") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def append(path: Path, content: bytes, *, at: int) -> None:
    """Write at a position of a file after removing what follows; at 0 the file is created. A link is an error."""
    with _opened(path, os.O_WRONLY | (os.O_CREAT if at == 0 else 0)) as handle:
        os.ftruncate(handle, at)
        os.lseek(handle, at, os.SEEK_SET)
        _write(handle, content)


def flush(path: Path) -> None:
    """Flush a file that was appended to."""
    with _opened(path, os.O_WRONLY) as handle:
        os.fsync(handle)
    sync_folder(path.parent)


def remove_leftovers(folder: Path, older_than: float) -> int:
    """Remove temporary files of killed writers that are older than some seconds; return how many there were."""
    limit, old = time.time() - older_than, []
    with os.scandir(folder) as items:
        for item in items:
            with suppress(FileNotFoundError):
                if is_leftover(item.name) and item.stat(follow_symlinks=False).st_mtime <= limit:
                    old.append(Path(item.path))
    return sum(map(remove, old))


def identity(folder: Path) -> int | None:
    """Return the inode of a folder, which another folder of the same name does not have; ``None`` without a folder."""
    try:
        return folder.stat().st_ino
    except OSError:
        return None


def remove(path: Path) -> bool:
    """Remove a file, a folder with its content, or a link but not its target; return whether it is gone."""
    try:
        if stat.S_ISDIR(path.lstat().st_mode):
            shutil.rmtree(path)
        else:
            path.unlink()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def unique(name: str) -> str:
    """Return a name that no other writer has, which :func:`is_leftover` recognises."""
    return f"{name}.{os.getpid()}.{secrets.token_hex(4)}"


def is_leftover(name: str) -> bool:
    """Return whether a name was made by :func:`unique`, so that the file may be removed."""
    parts = name.removesuffix(".old").rsplit(".", 2)
    return len(parts) == 3 and parts[1].isdigit() and len(parts[2]) == 8 and set(parts[2]) <= set("0123456789abcdef")


def sync_folder(path: Path) -> None:
    """Flush the names in a folder to disk; without effect where folders cannot be opened."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    """Open a file that is not a link."""
    if path.is_symlink():
        inside(path.parent, path.name)
    handle = os.open(path, flags | _NO_FOLLOW, 0o666)
    try:
        yield handle
    finally:
        os.close(handle)


def _write(handle: int, content: bytes) -> None:
    """Write everything: the system may accept only a part at a time."""
    view = memoryview(content)
    while view:
        view = view[os.write(handle, view) :]
