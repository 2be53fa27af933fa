"""Draw the formation environment: the triangle with its sides coloured by their error, opponent, goal and trails."""

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from morl_envs.crazyflie.formation import PAIRS, CrazyflieFormation, shape_error
from morl_envs.rendering.canvas import Canvas, Colour
from morl_envs.rendering.draw_frogger import (
    BUFFER,
    GOAL,
    GOAL_FILL,
    LANE,
    OPPONENT,
    draw_arena,
    draw_drone,
    draw_lane,
    draw_opponent,
    outcome,
)

DRONES: tuple[Colour, ...] = ((38, 98, 180), (120, 70, 170), (20, 140, 150))
GOOD: Colour = (64, 150, 84)
BAD: Colour = (214, 130, 30)
CENTRE: Colour = (38, 44, 52)
TOLERANCE = 0.05


def draw_formation(env: CrazyflieFormation, row: dict[str, Tensor], trail: NDArray[np.float64]) -> Canvas:
    """Return the picture of one environment with its panel's legend."""
    o, drones = env.options, row["position"].tolist()
    canvas = draw_arena(o.x_limit, o.y_limit)
    draw_lane(canvas, o.lane, o.x_limit, o.collision_distance)
    canvas.disc(row["goal"].tolist(), o.goal_radius, GOAL_FILL, GOAL, 2)
    canvas.label((float(row["goal"][0]), float(row["goal"][1]) + o.goal_radius + 0.04), "goal", GOAL, 11)
    for k, colour in enumerate(DRONES):
        canvas.path(trail[:, k].tolist(), (*colour[:3], 130), 1.2)
    centre = np.asarray(trail).mean(1)
    if len(centre) > 1:
        canvas.path(centre.tolist(), CENTRE, 1.6)
    for i, j in PAIRS:
        error = abs(float(np.linalg.norm(np.subtract(drones[i], drones[j]))) - o.side)
        canvas.path([drones[i], drones[j]], GOOD if error < TOLERANCE else BAD, 2.5)
    draw_opponent(canvas, row["opponents"][:, 0].tolist(), float(row["velocity"][0]), o.collision_distance)
    for (x, y), colour in zip(drones, DRONES, strict=True):
        draw_drone(canvas, (x, y), colour)
    canvas.disc(np.mean(drones, 0).tolist(), 0.012, CENTRE)
    canvas.line("Crazyflie formation", size=13, bold=True)
    canvas.line(outcome(row), size=11)
    canvas.line(f"largest error of a side: {100 * float(shape_error(row['position'][None], o.side)):.1f} cm", size=11)
    canvas.space(4)
    canvas.entry("drones and their paths", DRONES[0])
    canvas.entry("centre of mass and its path", CENTRE)
    canvas.entry(f"side within 5 cm of {100 * o.side:g} cm", GOOD, "line")
    canvas.entry("side off by more", BAD, "line")
    canvas.entry("opponent, arrow: its way", OPPONENT)
    canvas.entry("lane", LANE, "box")
    canvas.entry("goal", GOAL, "ring")
    canvas.entry("near the wall (0.2 m)", BUFFER, "box")
    return canvas
