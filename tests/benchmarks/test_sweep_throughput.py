from pathlib import Path

from benchmarks.sweep_throughput import Args, main


def test_runs_and_writes_what_it_prints(tmp_path: Path) -> None:
    tiny = Args(tmp_path / "t.json", rounds=1, runs=1, iterations=2, steps_per_iteration=64, env="deep-sea-treasure-v0")
    results = main(tiny)
    assert [ratio > 0 for ratio in results["ratios"]] == [True]  # type: ignore[attr-defined]
    assert (tmp_path / "t.json").read_text().startswith("{")
