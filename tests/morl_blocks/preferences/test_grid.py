from math import comb

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Generator

from morl_blocks.preferences import Grid, even_preferences


def test_two_objectives_are_equally_spaced() -> None:
    torch.testing.assert_close(even_preferences(40, 2)[:, 0], torch.linspace(0, 1, 40))


def test_a_whole_lattice_is_taken_whole() -> None:
    points = even_preferences(comb(4 + 2, 2), 3)  # multiples of 1/4
    expected = {(a, b, 4 - a - b) for a in range(5) for b in range(5 - a)}
    assert {tuple((4 * point).int().tolist()) for point in points} == expected


@given(st.integers(2, 60), st.integers(2, 5))
def test_as_many_different_points_as_asked_for_corners_first(count: int, m: int) -> None:
    points = even_preferences(count, m)
    assert points.shape == (count, m) == points.unique(dim=0).shape
    torch.testing.assert_close(points.sum(-1), torch.ones(count))
    assert int((points == 1).any(-1).sum()) == min(count, m)


def test_points_are_spread_out() -> None:
    points = even_preferences(40, 3)
    apart = torch.cdist(points, points).fill_diagonal_(9.0).amin()
    everywhere = torch.rand(2000, 3, generator=Generator().manual_seed(0)).log().neg()
    gap = torch.cdist(everywhere / everywhere.sum(-1, keepdim=True), points).amin(-1).amax()
    assert float(apart) > 0.17
    assert float(gap) < 0.2


def test_the_sampler_draws_every_point_alike() -> None:
    drawn = Grid(5)(10_000, 3, Generator().manual_seed(0))
    points, counts = drawn.unique(dim=0, return_counts=True)
    torch.testing.assert_close(points, even_preferences(5, 3))
    assert int(counts.min()) > 1800


@pytest.mark.parametrize(("count", "m", "name"), [(1, 2, "count"), (5, 1, "num_objectives")])
def test_sizes_are_checked(count: int, m: int, name: str) -> None:
    with pytest.raises(ValueError, match=f"`{name}` must be a whole number >= 2, got 1"):
        even_preferences(count, m)
    if name == "count":
        with pytest.raises(ValueError, match="`n` must be a whole number >= 2, got 1"):
            Grid(count)
