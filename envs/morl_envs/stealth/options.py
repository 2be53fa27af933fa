"""All options of the stealth environment. The paper gives some values; the other defaults are our choices."""

import math
from dataclasses import dataclass

from morl_envs import _checks


@dataclass(frozen=True)
class StealthOptions:
    """Options of the stealth environment, in metres, seconds and radians.

    Attributes:
        horizon: Steps per episode (the paper's tables need 347 to 550).
        num_targets: Hidden objects.
        num_circles: Round obstacles.
        num_boxes: Rectangular obstacles.
        half_width: The arena is [-half_width, half_width] x [-half_height, half_height].
        half_height: See ``half_width``.
        robot_radius: Radius of the robot, and of the free disc around every target.
        time_step: Seconds per step.
        max_speed: Speed at action v = 1.
        max_turn_rate: Turn rate at action w = 1.
        field_of_view: Opening angle of the camera, at most pi.
        vision_range: Range of the camera; its grid has 3 bearings x 2 halves of this range.
        scan_range: A target is scanned within this distance, inside the field of view and in line of sight.
        lidar_rays: Rays over 360 degrees, the first along the heading.
        lidar_range: Range of the lidar; readings are divided by it.
        target_radius: Radius of a target as the lidar sees it. The robot drives over targets.
        safe_limit: L_safe, half-size of the central region to avoid.
        max_risk: d_max, the exposure that counts as 1.
        circle_radius: Smallest and largest radius of the round obstacles.
        box_half_size: Smallest and largest half-width (and half-height) of the rectangular obstacles.
        clearance: Extra distance in the layout, beyond the distance at which shapes touch.
        layout_attempts: Layouts tried per episode before an error is raised.
    """

    horizon: int = 400
    num_targets: int = 8
    num_circles: int = 3
    num_boxes: int = 3
    half_width: float = 1.0
    half_height: float = 1.0
    robot_radius: float = 0.05
    time_step: float = 0.05
    max_speed: float = 1.0
    max_turn_rate: float = 1.0
    field_of_view: float = 1.715
    vision_range: float = 0.6
    scan_range: float = 0.2
    lidar_rays: int = 20
    lidar_range: float = 0.35
    target_radius: float = 0.03
    safe_limit: float = 0.8
    max_risk: float = 0.8
    circle_radius: tuple[float, float] = (0.05, 0.12)
    box_half_size: tuple[float, float] = (0.04, 0.10)
    clearance: float = 0.02
    layout_attempts: int = 50

    def __post_init__(self) -> None:
        """Raise for options that do not describe a valid environment."""
        for name in ("horizon", "num_targets", "lidar_rays", "layout_attempts"):
            _checks.whole(name, getattr(self, name), 1)
        for name in ("num_circles", "num_boxes"):
            _checks.whole(name, getattr(self, name), 0)
        for name in ("half_width", "half_height", "robot_radius", "time_step", "max_speed", "max_turn_rate"):
            _checks.positive(name, getattr(self, name))
        for name in ("vision_range", "scan_range", "lidar_range", "target_radius", "safe_limit", "max_risk"):
            _checks.positive(name, getattr(self, name))
        _checks.non_negative("clearance", self.clearance)
        _checks.size_range("circle_radius", self.circle_radius)
        _checks.size_range("box_half_size", self.box_half_size)
        _checks.positive("field_of_view", self.field_of_view)
        if self.field_of_view > math.pi:
            _checks.fail("field_of_view", "lie in (0, pi]", self.field_of_view)
        room = min(self.half_width, self.half_height) - self.largest_obstacle - self.passage
        if room <= 0:
            _checks.fail("half_width and half_height", "leave room for the largest obstacle", f"{room:g} m to spare")

    @property
    def passage(self) -> float:
        """Smallest gap between obstacles, and from an obstacle to a wall: the robot passes it with clearance."""
        return 2 * self.robot_radius + self.clearance

    @property
    def largest_obstacle(self) -> float:
        """Half-size of the largest obstacle that may be drawn."""
        sizes = [self.robot_radius]
        sizes += [self.circle_radius[1]] * (self.num_circles > 0)
        sizes += [self.box_half_size[1]] * (self.num_boxes > 0)
        return max(sizes)

    @property
    def observation_dim(self) -> int:
        """Position and heading (4), vision grid (6), lidar."""
        return 10 + self.lidar_rays
