import os
from pathlib import Path

import pytest
import safetensors.torch
import torch

from morl_recipes import checkpoint
from morl_recipes.checkpoint import CheckpointError, load, require_same, save

TENSORS = {"weights": torch.arange(6.0).reshape(2, 3), "mask": torch.tensor([True, False]), "none": torch.zeros(0, 2)}


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    save(tmp_path / "c", TENSORS, {"iteration": 3})
    tensors, meta = load(tmp_path / "c")
    assert meta == {"iteration": 3}
    assert tensors.keys() == TENSORS.keys()
    assert all(torch.equal(tensors[name], TENSORS[name]) for name in TENSORS)


def test_a_crash_while_writing_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c"
    save(path, TENSORS, {"iteration": 1})

    def broken(handle: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="disk full"):
        save(path, TENSORS, {"iteration": 2})
    assert load(path)[1] == {"iteration": 1}


@pytest.mark.parametrize("cut", [3, 100, -1])
def test_a_truncated_file_is_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "c"
    save(path, TENSORS, {})
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(CheckpointError, match="must be a checkpoint, got a damaged or foreign file"):
        load(path)


def test_a_flipped_bit_is_found(tmp_path: Path) -> None:
    path = tmp_path / "c"
    save(path, TENSORS, {})
    data = bytearray(path.read_bytes())
    data[-9] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(CheckpointError, match="must match its checksum"):
        load(path)


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "c"
    with pytest.raises(CheckpointError, match="damaged or foreign"):
        load(path)
    path.write_bytes(b"not a checkpoint")
    with pytest.raises(CheckpointError, match="damaged or foreign"):
        load(path)
    safetensors.torch.save_file(TENSORS, path)
    with pytest.raises(CheckpointError, match="must be a checkpoint of morl-blocks"):
        load(path)
    safetensors.torch.save_file(TENSORS, path, {"format": checkpoint.FORMAT, "version": "99"})
    with pytest.raises(CheckpointError, match="must have checkpoint version 1, got 99"):
        load(path)


def test_another_training_is_named(tmp_path: Path) -> None:
    require_same(tmp_path, {"env": "toy", "extra": 1}, {"env": "toy"})
    with pytest.raises(CheckpointError, match="got another `env`"):
        require_same(tmp_path, {"env": "toy"}, {"env": "stealth"})
