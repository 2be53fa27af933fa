import math
from typing import Any

import pytest

from morl_envs.stealth.options import StealthOptions
from tests.refusals import refused


def test_defaults() -> None:
    options = StealthOptions()
    assert options.observation_dim == 30
    assert options.passage == pytest.approx(0.12)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"horizon": 0}, r"`horizon` must be a whole number >= 1, got 0"),
        ({"num_circles": -1}, r"`num_circles` must be a whole number >= 0, got -1"),
        ({"robot_radius": -0.05}, r"`robot_radius` must be > 0, got -0.05"),
        ({"target_radius": 0.0}, r"`target_radius` must be > 0, got 0.0"),
        ({"lidar_range": math.nan}, r"`lidar_range` must be > 0, got nan"),
        ({"clearance": -1.0}, r"`clearance` must be >= 0"),
        ({"circle_radius": (-0.1, 0.1)}, r"`circle_radius` must be two numbers 0 < low <= high"),
        ({"box_half_size": (0.2, 0.1)}, r"`box_half_size` must be two numbers 0 < low <= high"),
        ({"field_of_view": 4.0}, r"`field_of_view` must lie in \(0, pi\], got 4.0"),
        ({"half_width": 0.2}, r"leave room for the largest obstacle"),
    ],
)
def test_bad_numbers_are_refused(bad: dict[str, Any], message: str) -> None:
    refused(message, StealthOptions, **bad)
