"""SelfTuned against the best fixed smoothness, with chosen scores; the committed table follows from its data."""

from pathlib import Path

import pytest

from benchmarks.faithful_1m import Args, main
from benchmarks.publish import to_text
from tests.benchmarks.claims.made_up import made_up, noisy

ROWS = ["SelfTuned", "PASTA", "mu=0.01", "mu=0.1", "mu=0.5", "mu=1.0", "mu=5.0", "No Decay"]
RESULTS = Path(__file__).parents[2] / "benchmarks/results"


@pytest.mark.parametrize(("own", "verdict"), [(0.6, True), (0.9, True), (0.5, False)])
def test_rule(tmp_path: Path, own: float, verdict: bool) -> None:
    data = made_up(noisy({"SelfTuned": own, "mu=0.5": 0.6}), rows=ROWS, env="formation", preferences=None)
    (tmp_path / "data.csv").write_text(to_text(data))
    found = main(Args(tmp_path / "data.csv", tmp_path / "out.json"))["formation"]
    assert (found["keeps_up"]["hv"], found["best"]["hv"], found["missing"]) == (verdict, "mu=0.5", [])


@pytest.mark.skipif(not (RESULTS / "faithful-1m.csv").exists(), reason="not trained yet")
def test_committed_table_follows_from_its_data(tmp_path: Path) -> None:
    main(Args(RESULTS / "faithful-1m.csv", tmp_path / "faithful_1m.json"))
    assert (tmp_path / "faithful_1m.txt").read_text() == (RESULTS / "faithful_1m.txt").read_text()
