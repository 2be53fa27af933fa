from pathlib import Path

import numpy as np
import pytest

from benchmarks.faithful_stealth import Args, judge, main, slopes

WEIGHTS = np.array([[0.8, 0.1, 0.1], [0.1, 0.7, 0.2], [0.2, 0.2, 0.6]])


def test_the_slope_is_that_of_a_straight_line_and_who_follows_has_no_regret() -> None:
    line = np.stack([0.25 + 0.5 * WEIGHTS, np.full((3, 3), 0.4), 1 - WEIGHTS], axis=1)  # three seeds
    np.testing.assert_allclose(slopes(line, WEIGHTS), [0.5, 0.0, -1.0], atol=1e-12)
    found = judge(np.stack([WEIGHTS, WEIGHTS], axis=1), WEIGHTS, 0.1)
    assert found["regret"].estimate == pytest.approx(0)
    assert found["rank"].estimate == pytest.approx(1)
    assert found["slope"].low == pytest.approx(1)


def test_the_published_rows_stand_without_runs_of_ones_own(tmp_path: Path) -> None:
    results = main(Args(out=tmp_path / "stealth.json"))
    assert (tmp_path / "stealth.txt").is_file()
    pasta, linear = (results["rows"][name]["slope"] for name in ("PASTA (Ours)", "Linear, vector advantages"))
    assert pasta[1] < 0 < pasta[2]
    assert linear[1] > 0
