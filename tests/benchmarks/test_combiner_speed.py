from pathlib import Path

from benchmarks.combiner_speed import Args, main


def test_runs_and_writes_what_it_prints(tmp_path: Path) -> None:
    results = main(Args(out=tmp_path / "speed.json", rounds=1))
    assert len(results) == 5
    assert all(row["ours_ms"] > 0 and row["peer_ms"] > 0 for row in results.values())
    assert (tmp_path / "speed.json").read_text().startswith("{")
