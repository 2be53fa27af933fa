from pathlib import Path

import pytest

from morl_recipes.common.errors import StoreError
from morl_recipes.running.execute import alone, pin_size, pinned_size
from morl_recipes.store.manifest import Manifest
from morl_recipes.store.store import Store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Store.create(tmp_path / "s", Manifest("c", {}, ())).path


def test_the_first_size_stays(folder: Path) -> None:
    assert pinned_size(folder) is None
    assert pin_size(folder, 8) == 8
    assert pin_size(folder, 3) == 8
    assert pinned_size(folder) == 8


def test_a_damaged_file_is_refused(folder: Path) -> None:
    pin_size(folder, 8)
    path = folder / "populations.json"
    path.write_text(path.read_text().replace("8", "9", 1))
    with pytest.raises(StoreError, match=r"populations.json: damaged"):
        pin_size(folder, 8)


def test_one_process_at_a_time(folder: Path) -> None:
    with alone(folder), pytest.raises(StoreError, match="another process is working on this sweep"), alone(folder):
        pass
    with alone(folder):
        pass


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"file: cannot be written \(Not a directory\)"):
        pin_size(tmp_path / "file", 1)
    with pytest.raises(StoreError, match=r"file: cannot be written \("), alone(tmp_path / "file"):
        pass
