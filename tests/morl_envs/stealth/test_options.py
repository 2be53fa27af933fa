import math

from morl_envs.stealth.options import StealthOptions
from tests.refusals import refused


def test_bad_numbers_are_refused() -> None:
    refused("`horizon` must be a whole number >= 1, got 0", StealthOptions, horizon=0)
    refused("`num_circles` must be a whole number >= 0, got -1", StealthOptions, num_circles=-1)
    refused("`robot_radius` must be > 0, got -0.05", StealthOptions, robot_radius=-0.05)
    refused("`target_radius` must be > 0, got 0.0", StealthOptions, target_radius=0.0)
    refused("`lidar_range` must be > 0, got nan", StealthOptions, lidar_range=math.nan)
    refused("`clearance` must be >= 0", StealthOptions, clearance=-1.0)
    refused("`circle_radius` must be two numbers 0 < low <= high", StealthOptions, circle_radius=(-0.1, 0.1))
    refused("`box_half_size` must be two numbers 0 < low <= high", StealthOptions, box_half_size=(0.2, 0.1))
    refused(r"`field_of_view` must lie in \(0, pi\], got 4.0", StealthOptions, field_of_view=4.0)
    refused("leave room for the largest obstacle", StealthOptions, half_width=0.2)
