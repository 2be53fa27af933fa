"""Files are written whole, inside their folder, and through no link."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from morl_recipes.common import atomic_files
from morl_recipes.common.errors import StoreError
from tests.refusals import store_refused

Write = Callable[[Path, bytes], None]


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A file of somebody else."""
    path = tmp_path / "theirs.txt"
    path.write_text("theirs")
    return path


def test_a_path_below_a_folder_has_no_link_and_no_way_out(tmp_path: Path, theirs: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "tmp").symlink_to(tmp_path)
    with pytest.raises(StoreError, match=r"store/tmp: is a link, and nothing is written through one. Remove it, or"):
        atomic_files.inside(folder, "tmp", "x")
    store_refused("is a link", atomic_files.make_folder, folder, "tmp")
    for name in ("..", ".", "", "a/b", "/etc"):
        store_refused("is no name of a file in it", atomic_files.inside, folder, name)
    (tmp_path / "chosen").symlink_to(folder)  # the user may put the store itself wherever
    assert atomic_files.make_folder(tmp_path / "chosen", "runs", "r0").is_dir()


def _staged(path: Path, content: bytes) -> None:
    with atomic_files.staged(path) as temporary:
        temporary.write_bytes(content)


def _appended(path: Path, content: bytes) -> None:
    atomic_files.append(path, content, at=0)
    atomic_files.flush(path)


def _once(path: Path, content: bytes) -> None:
    atomic_files.create_once(path, content, path.parent)


@pytest.mark.parametrize("name", ["link", ".link.tmp"])  # the file itself, or its temporary name
@pytest.mark.parametrize("write", [atomic_files.create, atomic_files.replace, _staged])
def test_no_write_follows_a_link(tmp_path: Path, theirs: Path, name: str, write: Write) -> None:
    (tmp_path / name).symlink_to(theirs)
    path = tmp_path / "link"
    try:
        write(path, b"ours")
    except FileExistsError:
        assert path.is_symlink()
    else:
        assert not path.is_symlink()
        assert path.read_bytes() == b"ours"
    assert theirs.read_text() == "theirs"


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The inodes that were flushed to disk."""
    found: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: found.append(os.fstat(handle).st_ino))
    return found


@pytest.mark.parametrize("write", [atomic_files.create, atomic_files.replace, _once, _staged, _appended])
def test_a_write_waits_for_the_disk(tmp_path: Path, synced: list[int], write: Write) -> None:
    write(tmp_path / "c", b"content")
    folder = [] if write is atomic_files.create else [tmp_path.stat().st_ino]
    assert synced == [(tmp_path / "c").stat().st_ino, *folder]


def test_a_folder_waits_for_the_disk_before_and_after_it_is_renamed(tmp_path: Path, synced: list[int]) -> None:
    atomic_files.create_folder(tmp_path / "d", {"f": b"content"})
    assert synced == [path.stat().st_ino for path in (tmp_path / "d" / "f", tmp_path / "d", tmp_path)]


def test_appending_follows_no_link_and_cuts_off_what_is_beyond(
    tmp_path: Path, theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "h"
    atomic_files.append(path, b"one", at=0)
    atomic_files.append(path, b"two", at=3)
    atomic_files.append(path, b"2", at=3)
    atomic_files.flush(path)
    assert path.read_bytes() == b"one2"
    (tmp_path / "link").symlink_to(theirs)
    store_refused("link: is a link", atomic_files.append, tmp_path / "link", b"x", at=0)
    store_refused("link: is a link", atomic_files.flush, tmp_path / "link")
    monkeypatch.setattr(Path, "is_symlink", lambda path: False)  # the link appears after the look
    with pytest.raises(OSError, match="link"):
        atomic_files.append(tmp_path / "link", b"x", at=0)
    assert theirs.read_text() == "theirs"


def test_removing_a_link_leaves_what_it_leads_to(tmp_path: Path, theirs: Path) -> None:
    folder = tmp_path / "ours"
    folder.mkdir()
    (folder / "inner").symlink_to(tmp_path)
    (tmp_path / "outer").symlink_to(folder)
    assert atomic_files.remove(tmp_path / "outer")
    assert folder.is_dir()
    assert atomic_files.remove(folder)
    assert atomic_files.remove(folder)  # gone is gone
    assert theirs.read_text() == "theirs"


def test_a_crash_leaves_the_old_file_and_no_rubbish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c"
    atomic_files.replace(path, b"old")

    def full(handle: int, content: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        atomic_files.replace(path, b"new")
    assert [item.name for item in tmp_path.iterdir()] == ["c"]
    assert path.read_bytes() == b"old"


def test_a_system_that_writes_little_by_little_writes_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = os.write
    monkeypatch.setattr(os, "write", lambda handle, content: original(handle, content[:3]))
    atomic_files.create(tmp_path / "c", b"0123456789")
    assert (tmp_path / "c").read_bytes() == b"0123456789"


def test_old_leftovers_of_our_own_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = [atomic_files.unique("r0"), f"{atomic_files.unique('r0')}.old"]
    theirs = ["thesis.tex", "a.b.c", "run.12.xyzxyzxy", "run.12.0a1b2c3", "12.0a1b2c3d", ".ssh"]
    for name in (*ours, *theirs):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (100, 100))
    monkeypatch.setattr("time.time", lambda: 110.0)
    assert [atomic_files.remove_leftovers(tmp_path, older_than=age) for age in (11, 10, 10)] == [0, 2, 0]
    assert {path.name for path in tmp_path.iterdir()} == {*theirs}
