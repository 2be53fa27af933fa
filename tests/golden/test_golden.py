"""Run ids, short trainings, printed tables and old stores are what version 0.2 gave (see README.md)."""

import pytest

from benchmarks import _golden_stores as stores
from benchmarks import _golden_trainings as trainings
from benchmarks import golden

CHEAP = [name for name in trainings.trainings() if ", toy, " in name]
CHEAP += ["PASTA, stealth, fast"]


def test_run_ids_of_all_rows_are_as_recorded() -> None:
    assert set(golden.recorded("run_ids")["stealth"]) <= set(trainings.run_ids("stealth"))


@pytest.mark.parametrize("name", CHEAP)
def test_histories_and_parameters_are_as_recorded(name: str) -> None:
    assert golden.differences(name, trainings.trainings()[name](), bits=golden.exact()) == []


@pytest.mark.parametrize("update", ["generic", "fast"])
def test_resumed_training_was_recorded_equal_to_an_uninterrupted_one(update: str) -> None:
    values = golden.recorded("trainings")["values"]
    assert values[f"PASTA resumed, toy, {update}"] == values[f"PASTA, toy, {update}"]


@pytest.mark.parametrize("name", ["stealth-200k, terminal", "stealth-1m, terminal"])
def test_published_table_prints_the_recorded_bytes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", golden.WIDTH)
    assert golden.tables()[name]() == golden.recorded("tables")[name]


@pytest.mark.parametrize("name", stores.NAMES)
def test_old_store_is_read_as_recorded(name: str) -> None:
    assert golden.read_difference(name) == []


@pytest.mark.parametrize("name", ["train", "front"])  # that of a sweep starts a worker: benchmarks/golden.py
def test_old_interrupted_training_continues_to_the_recorded_bytes(name: str) -> None:
    assert golden.resume_difference(name) == []
