from pathlib import Path

import pytest

from benchmarks import front_recipes
from benchmarks.front_recipes import METHODS, Args, main
from tests.benchmarks.conftest import Shorten


def test_runs_and_writes_what_it_prints(tmp_path: Path, shorten: Shorten, capsys: pytest.CaptureFixture[str]) -> None:
    shorten(front_recipes)
    args = Args(out=tmp_path / "fronts.json", steps=64, seeds=2, preferences=3)
    results = main(args)
    for table in results["maps"].values():
        assert list(table) == list(METHODS)
        for rows in table.values():
            assert len(rows) == 2
            assert all(0 <= row["share"] <= 1 and row["on_the_front"] <= len(row["points"]) for row in rows)
    assert "share of the hypervolume" in capsys.readouterr().out
    assert (tmp_path / "fronts.txt").exists()
