"""The real trainer behind a population."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from morl_recipes.common.errors import StoreError
from morl_recipes.running import recorder
from morl_recipes.running.engines import job as work_module
from morl_recipes.running.engines.inline import InlineEngine
from morl_recipes.running.engines.job import train_job
from morl_recipes.running.execute import run_sweep
from morl_recipes.store import checkpoint
from morl_recipes.store import versions as store_versions
from tests.morl_recipes.running.fakes import Press, same_runs, tiny_plan


def nothing(steps: int) -> None:
    """Report to nobody."""


def test_records_hold_both_points_and_documented_columns(tmp_path: Path) -> None:
    (population, *_) = tiny_plan().populations(16)
    events: list[Any] = []

    @contextmanager
    def log(title: str) -> Iterator[Press]:
        events.append(f"open {title}")
        yield Press(lambda: events.append("logged"), 1)
        events.append("close")

    records = train_job(population, tmp_path / "c", events.append, log=log)
    steps = [64 * len(population.runs) * k for k in (1, 2, 3, 4)]
    assert events == [f"open {population.name}", "logged", *steps, "close"]
    page = (Path(__file__).parents[3] / "docs" / "store.md").read_text()
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    known = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    for run, record in zip(population.runs, records, strict=True):
        assert (record.run_id, record.status, record.steps) == (run.run_id, "done", 256)
        assert record.peak is not None
        assert record.final is not None
        assert record.final["iteration"] == 4
        assert record.policy.keys() == record.peak_policy.keys()
        assert {re.sub(r"_\d$", "_i", name) for name in record.history.columns} <= known


def test_error_in_a_users_block_names_its_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "my_rows.py"
    path.write_text(
        "from dataclasses import replace\n"
        "from morl_blocks.combiners import Combiner\n"
        "from morl_recipes import PASTA\n"
        "from morl_recipes.recipe.specs import spec\n"
        "class Mistaken(Combiner):\n"
        "    def combine(self, gramian, attention, noise):\n"
        "        return attention + self.nothing\n"
        "MyRow = replace(PASTA, combiner=spec(Mistaken)())\n"
    )
    outcome = run_sweep(tiny_plan(rows=[f"{path}:MyRow"]), tmp_path / "s", InlineEngine(), progress=False)
    (reason,) = set(outcome.failed.values())
    assert reason == f"AttributeError: 'Mistaken' object has no attribute 'nothing' ({path}:7)"


def test_checkpoint_belongs_to_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_module, "PATIENCE", 0.1)
    (population, *_) = tiny_plan().populations(16)
    with (
        FileLock(tmp_path / "c.lock"),
        pytest.raises(TimeoutError, match="another process is still training this population"),
    ):
        train_job(population, tmp_path / "c", nothing)


def test_kill_between_history_and_checkpoint_changes_nothing(tmp_path: Path) -> None:
    (population,) = tiny_plan(rows=["PASTA"]).populations(16)
    expected = train_job(population, None, nothing)

    class Killed(BaseException):
        pass

    with pytest.MonkeyPatch.context() as patch:

        def killed(path: Path, *rest: object) -> None:
            if path.exists():
                raise Killed  # the rows are on the disk, the checkpoint that counts them is not
            save(path, *rest)  # type: ignore[arg-type]

        save = checkpoint.save
        patch.setattr(checkpoint, "save", killed)
        with pytest.raises(Killed):
            train_job(population, tmp_path / "c", nothing)
    assert len((tmp_path / "c" / "history.csv").read_text().splitlines()) > 1 + len(population.runs)
    records = train_job(population, tmp_path / "c", nothing)
    same_runs(records, expected)


@pytest.mark.parametrize("known", [True, False])
def test_checkpoint_of_other_dynamics_needs_consent_if_it_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    (population,) = tiny_plan(rows=["PASTA"]).populations(16)
    versions = {name: store_versions.package_versions()[name] for name in ("morl-blocks", "torch")}
    with pytest.MonkeyPatch.context() as patch:
        if not known:
            patch.setattr(recorder, "run_versions", lambda: versions)
        train_job(population, tmp_path / "c", nothing)
    installed = {**store_versions.package_versions(), "gymnasium": "0.1"}
    monkeypatch.setattr(store_versions, "_installed", lambda: installed)
    with pytest.raises(StoreError, match=r"\(gymnasium .*, here 0\.1\).*accept_versions") if known else nullcontext():
        train_job(population, tmp_path / "c", nothing)
    train_job(population, tmp_path / "c", nothing, accept_versions=True)
