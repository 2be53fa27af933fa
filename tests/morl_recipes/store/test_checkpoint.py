"""Checkpoints and the history beside them."""

import os
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import safetensors.torch
import torch

from morl_recipes import Recipe, Run
from morl_recipes.store import checkpoint
from morl_recipes.store.checkpoint import load, require_same, save
from morl_recipes.store.history import History
from tests.refusals import refused

TENSORS = {"weights": torch.arange(6.0).reshape(2, 3), "mask": torch.tensor([True, False]), "none": torch.zeros(0, 2)}


def test_what_was_saved_is_loaded_also_after_a_crash_while_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c"
    save(path, TENSORS, {"iteration": 1})

    def broken(handle: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="disk full"):
        save(path, TENSORS, {"iteration": 2})
    tensors, meta = load(path)
    assert meta == {"iteration": 1}
    assert tensors.keys() == TENSORS.keys()
    assert all(torch.equal(tensors[name], TENSORS[name]) for name in TENSORS)


def test_a_cut_file_and_a_flipped_bit_are_found_wherever_they_are(tmp_path: Path) -> None:
    path = tmp_path / "c"
    save(path, TENSORS, {"iteration": 4, "reasons": {"1": "reward"}})
    intact = path.read_bytes()
    flipped = [intact[:i] + bytes([intact[i] ^ 1 << i % 7]) + intact[i + 1 :] for i in range(len(intact))]
    for content in (intact[:3], intact[:100], intact[:-1], *flipped):
        path.write_bytes(content)
        refused(re.escape(f"`{path}`"), load, path)


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "c"
    refused("damaged or foreign", load, path)
    path.write_bytes(b"not a checkpoint")
    refused("damaged or foreign", load, path)
    safetensors.torch.save_file(TENSORS, path)
    refused("must be a checkpoint of morl-blocks", load, path)
    safetensors.torch.save_file(TENSORS, path, {"format": checkpoint.FORMAT, "version": "99"})
    refused("must have checkpoint version 3, got 99", load, path)


@pytest.mark.parametrize(
    ("saved", "asked", "message"),
    [
        ({"env": "toy"}, {"env": "stealth"}, "got another `env`: stored toy, given stealth"),
        ({}, {"env": "toy"}, "got another `env`: stored None, given toy"),
        ({"env": {"horizon": 16}}, {"env": {"horizon": 32}}, "got another `env.horizon`: stored 16, given 32"),
        ({"seeds": [0, 1]}, {"seeds": (0, 5)}, r"got another `seeds\[1\]`: stored 1, given 5"),
        ({"seeds": [0]}, {"seeds": [0, 5]}, r"got another `seeds`: stored \[0\], given \[0, 5\]"),
        ({"mu": {"type": "A"}}, {"mu": {"type": "A", "b": 1}}, "got another `mu.b`: stored None, given 1"),
        ({"mu": {}}, {"mu": {"b": None}}, "got another `mu.b`"),
    ],
)
def test_another_training_is_named(tmp_path: Path, saved: Any, asked: Any, message: str) -> None:
    refused(message, require_same, tmp_path, saved, asked)
    require_same(tmp_path, {"env": "toy", "seeds": [0, 1], "extra": 1}, {"env": "toy", "seeds": (0, 1)})


RUNS = [Run(Recipe(), (0.5, 0.5), seed) for seed in (3, 4)]


def _add(history: History, iteration: int, alive: list[bool]) -> dict[str, torch.Tensor]:
    numbers: dict[str, torch.Tensor | float] = {
        "iteration": float(iteration),
        "steps": 64.0 * iteration,
        "mu": torch.tensor([1.0, torch.nan]),
        "return": torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
    }
    return history.add(numbers, torch.tensor(alive))


def test_rows_become_frames_and_a_csv_that_a_resume_cuts_back(tmp_path: Path) -> None:
    path = tmp_path / "history.csv"
    history = History(RUNS, 2, path)
    assert history.frame(0).empty
    assert _add(history, 1, [True, True])["return_1"].tolist() == [2.0, 4.0]
    mark, columns = history.mark, history.columns
    _add(history, 2, [True, False])
    assert history.frame(0)["steps"].tolist() == [64, 128]
    assert history.frame(1)["iteration"].tolist() == [1]
    assert list(history.frame(0).columns) == ["iteration", "steps", "mu", "return_0", "return_1"]
    table = pd.read_csv(path)
    assert table[["run", "seed", "weight_1"]].to_numpy().tolist() == [[0, 3, 0.5], [1, 4, 0.5], [0, 3, 0.5]]
    assert table["mu"].isna().tolist() == [False, True, False]
    resumed = History(RUNS, 2, path)
    resumed.load(mark, columns)
    assert len(pd.read_csv(path)) == 2
    assert torch.equal(torch.stack(resumed.rows).nan_to_num(-1), torch.stack(history.rows[:1]).nan_to_num(-1))
    _add(resumed, 2, [True, False])
    pd.testing.assert_frame_equal(pd.read_csv(path), table)


def test_every_bit_and_every_stopped_run_comes_back_from_the_file(tmp_path: Path) -> None:
    history = History(RUNS, 2, tmp_path / "history.csv")
    generator = torch.Generator().manual_seed(0)
    for iteration in range(1, 6):
        numbers: dict[str, torch.Tensor | float] = {"iteration": float(iteration), "steps": 64.0 * iteration}
        numbers["x"] = torch.rand(2, generator=generator, dtype=torch.float64) * 10.0 ** (7 * iteration - 20)
        history.add(numbers, torch.tensor([iteration < 5, iteration < 3]))
    again = History(RUNS, 2, tmp_path / "history.csv")
    again.load(history.mark, history.columns)
    assert torch.equal(torch.stack(again.rows).nan_to_num(-1), torch.stack(history.rows).nan_to_num(-1))
    assert again.mark == history.mark
    pd.testing.assert_frame_equal(again.frame(1), history.frame(1), check_exact=True)


@pytest.mark.parametrize("damage", ["shorter", "changed", "gone"])
def test_a_file_that_is_not_the_saved_one_is_refused(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "history.csv"
    history = History(RUNS, 2, path)
    _add(history, 1, [True, True])
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(content[:-1] if damage == "shorter" else content.replace(b"2.0", b"2.5"))
    refused(
        r"another history.csv than the one of \d+ bytes", History(RUNS, 2, path).load, history.mark, history.columns
    )
