from pathlib import Path

from benchmarks.gradient_cost import Args, main


def test_low_memory_keeps_two_gradients_and_the_figures_are_written(tmp_path: Path) -> None:
    results = main(Args(out=tmp_path / "cost.json", rounds=1, width=300, objectives=(2, 5)))
    assert len(results) == 12
    assert all(row["ms"] > 0 for row in results.values())
    assert results["m = 5, ours, low memory"]["memory"] < 3 < 5 < results["m = 5, ours"]["memory"]
    assert (tmp_path / "cost.json").exists()
