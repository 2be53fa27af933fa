import json
from pathlib import Path

import pytest

from benchmarks import import_time


def test_runs_and_writes_what_it_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_time, "STARTS", {"nothing": "pass"})
    args = import_time.Args(out=tmp_path / "t.json", before=import_time.ROOT, rounds=1)
    results = import_time.main(args)
    assert results["nothing"]["now"] > 0
    assert results["nothing"]["before"] > 0
    assert "nothing" in (tmp_path / "t.txt").read_text()
    assert "1.00x" in (tmp_path / "t.txt").read_text()


def test_the_committed_figures_hold_what_is_asked() -> None:
    """Figures of one machine: compare those of the same run."""
    figures = json.loads((import_time.ROOT / "benchmarks/results/import_time.json").read_text())
    assert set(figures) == set(import_time.STARTS)
    now = {name: figure["now"] for name, figure in figures.items()}
    assert now["morl_blocks.combine_gradients"] <= 1.15 * now["import torch"]
    assert now["from morl_recipes import train"] <= figures["from morl_recipes import train"]["before"] / 2
    assert now["morl-blocks list"] <= 1.5
