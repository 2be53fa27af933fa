from dataclasses import replace
from pathlib import Path

import pytest
import torch

from benchmarks import _plain_pasta, training_speed
from benchmarks._dummy import DummyEnv
from benchmarks.training_speed import Args, main


def test_runs_and_writes_what_it_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_plain_pasta, "EPOCHS", 1)
    monkeypatch.setattr(training_speed, "memory", lambda args, world: 0.5)
    quick = Args(out=tmp_path / "speed.json", rounds=1, runs=(1,), sizes=(1,), scaling=(1,), worlds=("dummy",))
    results = main(replace(quick, peers=False, compiled=False))
    assert results["steps_per_second"]["dummy"]["ours R=1 eager"] > 0
    assert results["update"]["ours R=1 m=3 eager"]["ms_per_run"] > 0
    assert 0 < results["update"]["ours R=1 m=3 eager"]["share_of_sgemm"] < 1
    assert results["update_ratios"]["m=8 / m=2, arithmetic: ours R=1 eager"] > 1.9  # one head per objective
    assert results["update_ratios"]["m=8 / m=2, arithmetic: ours R=1 eager, shared critic"] < 1.2
    assert (tmp_path / "speed.json").read_text().startswith("{")


def test_plain_pasta_learns_something() -> None:
    torch.manual_seed(0)
    plain = _plain_pasta.PlainPasta(DummyEnv(2), 33, 2, 2)
    before = [param.detach().clone() for param in plain.actor.parameters()]
    plain.update(_plain_pasta.random_batch(33, 2, 2))
    assert all(not torch.equal(old, new) for old, new in zip(before, plain.actor.parameters(), strict=True))
