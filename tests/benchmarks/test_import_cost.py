import json
from pathlib import Path

import pytest

from benchmarks import import_cost

ROOT = Path(__file__).parents[2]


def test_runs_and_writes_what_it_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_cost, "MODULES", ("morl_blocks",))
    results = import_cost.main(import_cost.Args(out=tmp_path / "t.json", rounds=1))
    assert results["morl_blocks"] >= 0
    assert "morl_blocks" in (tmp_path / "t.txt").read_text()


def test_the_committed_figures_hold_what_is_asked_and_are_those_of_the_page() -> None:
    figures = json.loads((ROOT / "benchmarks/results/import_cost.json").read_text())
    assert set(figures) == set(import_cost.MODULES)
    assert figures["morl_blocks.scalarizers"] < 60
    page = (ROOT / "docs/install.md").read_text()
    for module, taken in figures.items():
        assert f"| `{module}` | {taken:.0f} |" in page
