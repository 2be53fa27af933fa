"""Draw the stealth environment: safe border, obstacles, targets, robot, field of view, lidar and trail."""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from morl_envs.rendering.canvas import INK, Canvas, Colour
from morl_envs.stealth import sensors
from morl_envs.stealth.env import StealthVisualSearch
from morl_envs.stealth.options import StealthOptions

SAFE: Colour = (206, 222, 208)
AVOID: Colour = (255, 255, 255)
AVOID_EDGE: Colour = (196, 92, 92)
OBSTACLE: Colour = (92, 100, 112)
HIDDEN: Colour = (236, 138, 32)
FOUND: Colour = (64, 150, 84)
ROBOT: Colour = (38, 98, 180)
CRASH: Colour = (190, 30, 45)
VIEW: Colour = (250, 208, 70, 70)
SCAN: Colour = (250, 190, 40, 110)
RAY: Colour = (70, 130, 200, 90)
TRAIL: Colour = (205, 50, 60)


def draw_stealth(env: StealthVisualSearch, row: dict[str, Tensor], trail: NDArray[np.float64]) -> Canvas:
    """Return the picture of one environment with its panel's legend."""
    o = env.options
    canvas = Canvas(o.half_width, o.half_height, SAFE)
    limits = min(o.safe_limit, o.half_width), min(o.safe_limit, o.half_height)
    canvas.box((0, 0), limits, AVOID)
    canvas.dashed_box(limits, AVOID_EDGE)
    _draw_view(canvas, env, row)
    for x, y, radius in row["circles"].tolist():
        canvas.disc((x, y), radius, OBSTACLE)
    for x, y, width, height in row["boxes"].tolist():
        canvas.box((x, y), (width, height), OBSTACLE)
    if len(trail) > 1:
        canvas.path(trail[:, 0].tolist(), TRAIL, 1.6)
    _draw_targets(canvas, o.target_radius, row)
    _draw_robot(canvas, o.robot_radius, row)
    _write_legend(canvas, o, row)
    return canvas


def _cast(env: StealthVisualSearch, row: dict[str, Tensor], angles: Tensor, reach: float) -> NDArray[np.float64]:
    """Return the end points of sight lines that stop at obstacles and walls, ``[angles, 2]``."""
    position = row["position"][:, None]
    rays = torch.stack([angles.cos(), angles.sin()])[:, :, None]
    discs, boxes = row["circles"].T[:, :, None], row["boxes"].T[:, :, None]
    absent = torch.zeros_like(discs[0], dtype=torch.bool)
    arena = env.options.half_width, env.options.half_height
    distance = sensors.lidar(position, rays, discs, absent, boxes, arena).clamp(max=reach)
    return np.asarray((position[:, :, None] + distance * rays)[:, :, 0].T, dtype=np.float64)


def _draw_view(canvas: Canvas, env: StealthVisualSearch, row: dict[str, Tensor]) -> None:
    """Draw the visible part of the field of view, the scan range, and the lidar's rays with their hits."""
    o, heading = env.options, row["heading"]
    sweep = heading + torch.linspace(-o.field_of_view / 2, o.field_of_view / 2, 61, dtype=heading.dtype)
    here = row["position"].tolist()
    for reach, colour in ((o.vision_range, VIEW), (o.scan_range, SCAN)):
        canvas.area([here, *_cast(env, row, sweep, reach).tolist()], colour)
    readings = env.observe({name: tensor[None] for name, tensor in row.items()})[0, 10:] * o.lidar_range
    for k, reading in enumerate(readings.tolist()):
        angle = float(heading) + 2 * math.pi * k / o.lidar_rays
        end = here[0] + reading * math.cos(angle), here[1] + reading * math.sin(angle)
        canvas.path([here, end], RAY)
        if reading < o.lidar_range * 0.999:
            canvas.disc(end, 0.009, ROBOT)


def _draw_targets(canvas: Canvas, radius: float, row: dict[str, Tensor]) -> None:
    for (x, y), scanned in zip(row["targets"].tolist(), row["scanned"].tolist(), strict=True):
        if scanned:
            canvas.disc((x, y), radius, None, FOUND, 2)
            canvas.path([(x - 0.014, y), (x - 0.003, y - 0.012), (x + 0.016, y + 0.014)], FOUND, 1.6)
        else:
            canvas.disc((x, y), radius, HIDDEN, INK)


def _draw_robot(canvas: Canvas, radius: float, row: dict[str, Tensor]) -> None:
    x, y = row["position"].tolist()
    dx, dy = math.cos(float(row["heading"])), math.sin(float(row["heading"]))
    canvas.disc((x, y), radius, CRASH if bool(row["collided"]) else ROBOT, INK)
    canvas.path([(x, y), (x + radius * dx, y + radius * dy)], (255, 255, 255), 2.5)


def _write_legend(canvas: Canvas, o: StealthOptions, row: dict[str, Tensor]) -> None:
    canvas.line("Stealth visual search", size=13, bold=True)
    canvas.line(f"{int(row['scanned'].sum())} of {len(row['scanned'])} targets found", size=11)
    canvas.space(4)
    canvas.entry("robot (red: move undone)", ROBOT)
    canvas.entry("path", TRAIL, "line")
    canvas.entry("target, not found", HIDDEN)
    canvas.entry("target, found", FOUND, "ring")
    canvas.entry("obstacle", OBSTACLE, "box")
    canvas.entry("avoid region", AVOID, "box")
    canvas.entry("safe border", SAFE, "box")
    canvas.entry(f"in view ({o.vision_range:g} m)", (252, 226, 140))
    canvas.entry(f"scanned at once ({o.scan_range:g} m)", (246, 198, 84))
    canvas.entry("lidar ray, dot where it hits", (70, 130, 200), "line")
