"""A store may hold links that lead to somebody else's files: nothing is written or removed through them."""

import os
import shutil
import time
from pathlib import Path

import pytest

from morl_recipes.common.errors import StoreError
from morl_recipes.running.engines.events import Engine, Stopped
from morl_recipes.running.engines.inline import InlineEngine
from morl_recipes.running.engines.job import train_job
from morl_recipes.running.engines.local import LocalEngine
from morl_recipes.running.execute import run_sweep
from tests.morl_recipes.running import fakes
from tests.morl_recipes.running.fakes import tiny_plan
from tests.refusals import store_refused

DAY = 86_400.0


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A folder of somebody else, with old files whose names look like ours and like theirs."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    for name in ("thesis.tex", "manifest.json.4711.0a1b2c3d", "checkpoint.safetensors", "history.csv"):
        (folder / name).write_text("theirs")
        os.utime(folder / name, (time.time() - 10 * DAY,) * 2)
    return folder


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def begun(out: Path) -> Path:
    """Return a store of which one run is missing."""
    run_sweep(tiny_plan(), out, InlineEngine(), work=fakes.fake_work, progress=False)
    shutil.rmtree(min((out / "runs").iterdir()))
    return out


@pytest.mark.parametrize("engine", [InlineEngine(), LocalEngine(1)])
@pytest.mark.parametrize("name", ["tmp", "checkpoints", "runs"])
def test_a_linked_folder_is_refused_and_what_it_leads_to_is_untouched(
    tmp_path: Path, theirs: Path, name: str, engine: Engine
) -> None:
    store = begun(tmp_path / "s")
    if (store / name).exists():
        (store / name).rename(tmp_path / "aside")
    (store / name).symlink_to(theirs)
    before = contents(theirs)
    with pytest.raises(StoreError, match=rf"s/{name}: is a link, and nothing is written through one"):
        run_sweep(tiny_plan(), store, engine, progress=False)
    assert contents(theirs) == before


@pytest.mark.parametrize("name", ["checkpoint.safetensors", "history.csv"])
def test_a_linked_file_of_a_checkpoint_is_not_written_through(tmp_path: Path, theirs: Path, name: str) -> None:
    store, plan, before = begun(tmp_path / "s"), tiny_plan(), contents(theirs)
    for population in plan.populations(16):
        folder = store / "checkpoints" / population.name
        folder.mkdir(parents=True)
        (folder / name).symlink_to(theirs / name)
    try:
        run_sweep(plan, store, InlineEngine(), progress=False)
    except StoreError as error:
        assert "is a link" in str(error)  # noqa: PT017 - the other link is replaced by a file of our own
    assert contents(theirs) == before


@pytest.mark.parametrize("name", [".lock", "populations.json"])
def test_a_linked_file_of_the_store_is_not_written_through(tmp_path: Path, theirs: Path, name: str) -> None:
    store = begun(tmp_path / "s")
    (store / name).unlink(missing_ok=True)
    (store / name).symlink_to(theirs / "new.txt")
    store_refused(rf"{name}: is a link", run_sweep, tiny_plan(), store, InlineEngine(), progress=False)
    assert not (theirs / "new.txt").exists()


def test_a_linked_population_is_refused(tmp_path: Path, theirs: Path) -> None:
    (population, *_), before = tiny_plan().populations(16), contents(theirs)
    (tmp_path / population.name).symlink_to(theirs)
    (event, *_) = InlineEngine().run([population], train_job, tmp_path, lambda *_: None)
    assert isinstance(event, Stopped)
    assert "is a link" in event.reason
    assert contents(theirs) == before


def test_files_that_are_not_ours_stay_in_our_own_folders(tmp_path: Path) -> None:
    store = begun(tmp_path / "s")
    mine = [store / "tmp" / "notes.txt", store / "checkpoints" / "notes.txt"]
    leftover = store / "tmp" / "r0.4711.0a1b2c3d"
    for path in (*mine, leftover):
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
        os.utime(path, (time.time() - 10 * DAY,) * 2)
    run_sweep(tiny_plan(), store, InlineEngine(), work=fakes.fake_work, progress=False)
    assert all(path.read_text() == "mine" for path in mine)
    assert not leftover.exists()
