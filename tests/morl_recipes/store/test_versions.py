import os
import subprocess
from pathlib import Path

import pytest

from morl_recipes.store.versions import source_commit


@pytest.fixture
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clone")
    (folder / "pyproject.toml").write_text("a = 1")
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@x", "-C", str(folder)]
    for words in (["init"], ["add", "."], ["commit", "-m", "first"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    return folder


def test_a_clone_is_named_by_its_commit_and_edits_and_only_read(clone: Path, tmp_path: Path) -> None:
    def named() -> str:
        source_commit.cache_clear()
        return source_commit(clone)

    os.utime(clone / "pyproject.toml", (1, 1))  # git would like to note the new time in its index
    index = clone / ".git" / "index"
    before = index.stat().st_ino, index.stat().st_mtime_ns
    clean = named()
    assert len(clean) == 40
    assert (index.stat().st_ino, index.stat().st_mtime_ns) == before
    (clone / "other").touch()
    assert named() == clean  # files that git does not know are no edit
    (clone / "pyproject.toml").write_text("a = 2")
    assert named() == f"{clean}-dirty"
    for elsewhere in (tmp_path, clone / "part"):  # a folder of another clone is none of ours
        elsewhere.mkdir(exist_ok=True)
        (elsewhere / "pyproject.toml").touch()
        assert source_commit(elsewhere) == ""
