from pathlib import Path

import pytest

from benchmarks import deep_sea_treasure
from benchmarks.deep_sea_treasure import Args, main
from tests.benchmarks.conftest import Shorten


def test_runs_and_writes_what_it_prints(tmp_path: Path, shorten: Shorten, capsys: pytest.CaptureFixture[str]) -> None:
    shorten(deep_sea_treasure)
    args = Args(out=tmp_path / "dst.json", iterations=2, seeds=2, preferences=3, methods=("Linear", "PASTA"))
    results = main(args)
    for table in results["maps"].values():
        for row in table.values():
            assert [len(own) for own in row["points"]] == [3, 3]  # seeds x preferences
            assert len(row["treasures"]) == len(row["hypervolume"]) == 2
    assert "weight of treasure" in capsys.readouterr().out
    assert (tmp_path / "dst.json").exists()
