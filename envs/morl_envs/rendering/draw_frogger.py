"""Draw the frogger environment: lanes, opponents with their direction and reach, goal, drone and trail."""

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from morl_envs.crazyflie.frogger import CrazyflieFrogger
from morl_envs.rendering.canvas import INK, Canvas, Colour

FLOOR: Colour = (255, 255, 255)
BUFFER: Colour = (250, 226, 222)
LANE: Colour = (228, 232, 240)
LANE_LINE: Colour = (150, 160, 180)
OPPONENT: Colour = (190, 60, 60)
REACH: Colour = (190, 60, 60, 50)
GOAL: Colour = (64, 150, 84)
GOAL_FILL: Colour = (64, 150, 84, 60)
DRONE: Colour = (38, 98, 180)
TRAIL: Colour = (38, 98, 180, 170)


def draw_arena(x_limit: float, y_limit: float) -> Canvas:
    """Return a flight arena with its 0.2 m safety buffer, and a margin in which violations are visible."""
    canvas = Canvas(x_limit * 1.04, y_limit * 1.04, (236, 236, 234))
    canvas.box((0, 0), (x_limit, y_limit), BUFFER, INK)
    canvas.box((0, 0), (x_limit - 0.2, y_limit - 0.2), FLOOR)
    return canvas


def draw_lane(canvas: Canvas, height: float, half_length: float, reach: float) -> None:
    """Draw the band in which an opponent on this lane can collide with the drone."""
    canvas.box((0, height), (half_length, reach), LANE)
    canvas.dashes((-half_length, height), (half_length, height), LANE_LINE)


def draw_opponent(canvas: Canvas, past: list[list[float]], velocity: float, reach: float) -> None:
    """Draw an opponent, its collision distance, its last positions, and its direction."""
    for x, y in past[1:]:
        canvas.disc((x, y), 0.012, (190, 60, 60, 60))
    x, y = past[0]
    canvas.disc((x, y), reach, REACH)
    draw_drone(canvas, (x, y), OPPONENT)
    tip, way = x + np.sign(velocity) * 0.11, np.sign(velocity)
    canvas.path([(x, y), (tip, y)], OPPONENT, 2)
    canvas.area([(tip + 0.03 * way, y), (tip, y + 0.02), (tip, y - 0.02)], OPPONENT)


def draw_drone(canvas: Canvas, centre: tuple[float, float], colour: Colour) -> None:
    """Draw a quadrotor: a body with four rotors."""
    x, y = centre
    for dx in (-0.022, 0.022):
        for dy in (-0.022, 0.022):
            canvas.path([(x, y), (x + dx, y + dy)], colour, 1.5)
            canvas.disc((x + dx, y + dy), 0.014, (255, 255, 255), colour, 1.5)
    canvas.disc((x, y), 0.012, colour)


def outcome(row: dict[str, Tensor]) -> str:
    """Describe the state of the episode in words."""
    if bool(row["reached"]):
        return "goal reached"
    if bool(row["collided"]):
        return "collision"
    return "left the arena" if bool(row["violated"]) else "in flight"


def draw_frogger(env: CrazyflieFrogger, row: dict[str, Tensor], trail: NDArray[np.float64]) -> Canvas:
    """Return the picture of one environment with its panel's legend."""
    o = env.options
    canvas = draw_arena(o.x_limit, o.y_limit)
    for lane in o.lanes:
        draw_lane(canvas, lane, o.x_limit, o.collision_distance)
    canvas.disc(row["goal"].tolist(), o.goal_radius, GOAL_FILL, GOAL, 2)
    canvas.label(row["goal"].tolist(), "goal", GOAL, 11)
    if len(trail) > 1:
        canvas.path(trail[:, 0].tolist(), TRAIL, 1.6)
        canvas.disc(trail[0, 0].tolist(), 0.012, DRONE)
    for k, velocity in enumerate(row["velocity"].tolist()):
        draw_opponent(canvas, row["opponents"][:, k].tolist(), velocity, o.collision_distance)
    x, y = row["position"].tolist()
    draw_drone(canvas, (x, y), DRONE)
    canvas.line("Crazyflie frogger", size=13, bold=True)
    canvas.line(outcome(row), size=11)
    canvas.space(4)
    canvas.entry("drone and its path", DRONE)
    canvas.entry("opponent, arrow: its way", OPPONENT)
    canvas.entry(f"collision distance ({o.collision_distance:g} m)", (236, 190, 190))
    canvas.entry("lane", LANE, "box")
    canvas.entry("goal", GOAL, "ring")
    canvas.entry("near the wall (0.2 m)", BUFFER, "box")
    return canvas
