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
