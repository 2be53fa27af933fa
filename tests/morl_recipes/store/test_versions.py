import os
import subprocess
from pathlib import Path

import pytest

from morl_recipes.store.versions import source_commit


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    def git(*words: str) -> None:
        name = ["-c", "user.name=n", "-c", "user.email=e@x"]
        subprocess.run(["git", *name, "-C", str(tmp_path), *words], check=True, capture_output=True)

    (tmp_path / "pyproject.toml").write_text("a = 1")
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    return tmp_path


def test_a_clone_is_named_by_its_commit_and_edits(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    clean = source_commit(clone)
    assert len(clean) == 40
    (clone / "other").touch()
    source_commit.cache_clear()
    assert source_commit(clone) == clean  # files that git does not know are no edit
    (clone / "pyproject.toml").write_text("a = 2")
    source_commit.cache_clear()
    assert source_commit(clone) == f"{clean}-dirty"
    assert source_commit(tmp_path_factory.mktemp("elsewhere")) == ""


def test_a_clone_is_only_read(clone: Path) -> None:
    os.utime(clone / "pyproject.toml", (1, 1))  # git would like to note the new time in its index
    index = clone / ".git" / "index"
    before = index.stat().st_ino, index.stat().st_mtime_ns
    source_commit.cache_clear()
    assert not source_commit(clone).endswith("-dirty")
    assert (index.stat().st_ino, index.stat().st_mtime_ns) == before
