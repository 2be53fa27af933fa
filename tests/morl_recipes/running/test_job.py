"""The real trainer behind a population."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pandas as pd
import pytest
import torch
from filelock import FileLock

from morl_recipes.common.errors import StoreError
from morl_recipes.running import recorder
from morl_recipes.running.engines import job as work_module
from morl_recipes.running.engines.inline import InlineEngine
from morl_recipes.running.engines.job import train_job
from morl_recipes.running.execute import run_sweep
from morl_recipes.running.recorder import Recorder
from morl_recipes.store import checkpoint
from morl_recipes.store import versions as store_versions
from morl_recipes.store.record import RunRecord
from tests.morl_recipes.running.fakes import tiny_plan


def same(one: RunRecord, other: RunRecord) -> bool:
    pd.testing.assert_frame_equal(one.history, other.history, check_exact=True)
    return all(torch.equal(tensor, other.policy[name]) for name, tensor in one.policy.items())


def test_records_hold_both_points_with_their_policies(tmp_path: Path) -> None:
    (population, *_) = tiny_plan().populations(16)
    told: list[int] = []
    records = train_job(population, tmp_path / "c", told.append)
    assert told == [64 * len(population.runs) * k for k in (1, 2, 3, 4)]
    for run, record in zip(population.runs, records, strict=True):
        assert (record.run_id, record.status, record.steps) == (run.run_id, "done", 256)
        assert record.peak is not None
        assert record.final is not None
        assert record.final["iteration"] == 4
        assert record.policy.keys() == record.peak_policy.keys()


def test_a_population_opens_its_own_logger_and_closes_it() -> None:
    events: list[str] = []

    class Printer:
        def log_scalar(self, name: str, value: float, step: int) -> None:
            events.append(name)

    @contextmanager
    def log(title: str) -> Iterator[Printer]:
        events.append(f"open {title}")
        yield Printer()
        events.append("close")

    (population,) = tiny_plan(rows=["PASTA"], total_steps=64).populations(16)
    train_job(population, None, lambda steps: None, log=log)
    assert (events[0], events[-1]) == (f"open {population.name}", "close")
    assert "mu/run0" in events


def test_every_column_of_a_history_is_documented(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "store.md").read_text()
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    known = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    (population,) = tiny_plan(rows=["PASTA"], total_steps=64).populations(16)
    (record, *_) = train_job(population, None, lambda steps: None)
    assert {re.sub(r"_\d$", "_i", name) for name in record.history.columns} <= known


def test_a_finished_population_is_not_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = tiny_plan(rows=["PASTA"])
    (population,) = plan.populations(16)
    expected = train_job(population, tmp_path / "s" / "checkpoints" / population.name, lambda steps: None)
    # A sweep that was killed between the last checkpoint and the first result is finished by reading alone.
    monkeypatch.setattr(Recorder, "record", lambda self, iteration: pytest.fail("trained again"))
    (tmp_path / "s" / "checkpoints").rename(tmp_path / "aside")
    run_sweep(plan, tmp_path / "s", _Returning(tmp_path / "aside"), progress=False)
    records = train_job(population, tmp_path / "aside" / population.name, lambda steps: None)
    assert all(same(one, other) for one, other in zip(records, expected, strict=True))


def test_a_mistake_in_a_users_block_is_placed_in_its_file(tmp_path: Path) -> None:
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


class _Returning(InlineEngine):
    """Bring the checkpoints back once the store exists, which refuses a folder with other things in it."""

    def __init__(self, aside: Path) -> None:
        self.aside = aside

    def run(self, populations, work, checkpoints, watch):  # type: ignore[no-untyped-def]
        return super().run(populations, work, self.aside, watch)


def test_a_checkpoint_belongs_to_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_module, "PATIENCE", 0.1)
    (population, *_) = tiny_plan().populations(16)
    with (
        FileLock(tmp_path / "c.lock"),
        pytest.raises(TimeoutError, match="another process is still training this population"),
    ):
        train_job(population, tmp_path / "c", lambda steps: None)


def test_a_checkpoint_does_not_grow_with_the_history(tmp_path: Path) -> None:
    plan = tiny_plan(rows=["PASTA"], total_steps=64 * 40, eval_every=40)
    (population,) = plan.populations(16)
    sizes: list[int] = []

    def measure(steps: int) -> None:
        path = tmp_path / "c" / "checkpoint.safetensors"
        sizes.extend([path.stat().st_size] if path.exists() else [])

    train_job(population, tmp_path / "c", measure)
    assert len(sizes) > 30
    assert max(sizes[2:-1]) - min(sizes[2:-1]) < 64  # the digits of the iteration


def test_a_kill_between_the_history_and_the_checkpoint_changes_nothing(tmp_path: Path) -> None:
    (population,) = tiny_plan(rows=["PASTA"]).populations(16)
    expected = train_job(population, None, lambda steps: None)

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
            train_job(population, tmp_path / "c", lambda steps: None)
    assert len((tmp_path / "c" / "history.csv").read_text().splitlines()) > 1 + len(population.runs)
    records = train_job(population, tmp_path / "c", lambda steps: None)
    assert all(same(one, other) for one, other in zip(records, expected, strict=True))


@pytest.mark.parametrize("told", [True, False])
def test_a_checkpoint_of_other_dynamics_is_asked_about_where_it_tells_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    (population,) = tiny_plan(rows=["PASTA"]).populations(16)
    versions = {name: store_versions.package_versions()[name] for name in ("morl-blocks", "torch")}
    with pytest.MonkeyPatch.context() as patch:
        if not told:
            patch.setattr(recorder, "run_versions", lambda: versions)
        train_job(population, tmp_path / "c", lambda steps: None)
    installed = {**store_versions.package_versions(), "gymnasium": "0.1"}
    monkeypatch.setattr(store_versions, "_installed", lambda: installed)
    with pytest.raises(StoreError, match=r"\(gymnasium .*, here 0\.1\)") if told else nullcontext():
        train_job(population, tmp_path / "c", lambda steps: None)
