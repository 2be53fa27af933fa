"""The demo's claims, on a shorter run: a weighted sum misses the middle of a concave front, STCH covers it."""

from pathlib import Path

import pytest
from torch import Tensor

from benchmarks.concave_front import Args, interior_points, main, true_front


@pytest.fixture(scope="module")
def fronts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tensor]:
    out = tmp_path_factory.mktemp("demo")
    found = main(Args(steps=500, out=out))
    assert {file.name for file in Path(out).iterdir()} == {"concave_front.txt", "concave_front.png"}
    return found


def test_linear_ends_at_the_two_ends(fronts: dict[str, Tensor]) -> None:
    assert interior_points(fronts["Linear"]) == 0
    assert (fronts["Linear"].min(-1).values < 0.05).all()


@pytest.mark.parametrize("name", ["TCH", "STCH (0.01)", "STCH (0.1)"])
def test_tchebycheff_covers_the_middle(fronts: dict[str, Tensor], name: str) -> None:
    assert interior_points(fronts[name]) >= 8


def test_points_lie_on_the_front(fronts: dict[str, Tensor]) -> None:
    exact = true_front()
    for name, front in fronts.items():
        distance = (front[:, None] - exact).norm(dim=-1).min(1).values
        assert distance.max() < 0.03, name
