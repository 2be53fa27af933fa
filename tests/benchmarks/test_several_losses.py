from pathlib import Path

import pytest

from benchmarks import several_losses
from benchmarks.several_losses import Args, main


def test_stch_reaches_a_concave_front_where_a_weighted_sum_finds_its_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    concave = {name: problem for name, problem in several_losses.PROBLEMS.items() if "concave" in name}
    monkeypatch.setattr(several_losses, "PROBLEMS", concave)
    results = main(Args(out=tmp_path / "losses.json", steps=400, seeds=1))
    assert (tmp_path / "losses.txt").exists()
    for name in concave:
        stch, linear = results[f"{name}, STCH (0.01)"], results[f"{name}, Linear"]
        assert stch["farthest"] < 0.02
        assert stch["igd"] < 1.5 * results[f"{name}, ten even points"]["igd"]
        assert linear["igd"] > 4 * stch["igd"]
        assert linear["inside"] == 0
