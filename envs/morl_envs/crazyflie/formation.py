"""The formation environment: three quadrotors fly as a triangle past a moving obstacle."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from morl_envs import _checks
from morl_envs.base import Bounds, Sizes
from morl_envs.counter_rng import uniform
from morl_envs.crazyflie.arena import FlightArena
from morl_envs.crazyflie.flight import fly, norm, wall_distance
from morl_envs.crazyflie.opponents import HISTORY, Patrol, draw_opponents, move_opponents
from morl_envs.protocol import State

_OWN_COUNTERS = 1 << 16
DRONES = 3
PAIRS = ((0, 1), (1, 2), (2, 0))


@dataclass(frozen=True)
class FormationOptions:
    """Options of the formation environment, in metres and seconds.

    Attributes:
        horizon: Steps per episode.
        x_limit: The drones must stay in [-x_limit, x_limit]; the opponent bounces there.
        y_limit: The drones must stay in [-y_limit, y_limit].
        time_step: Seconds per step.
        max_speed: Speed of a drone at full command, m/s.
        lane: Height of the opponent's lane.
        opponent_speeds: The opponent draws its speed from these, once per episode.
        flip_probability: Chance per step that the opponent turns.
        side: Target distance between two drones.
        start_height: y of the middle of the start zone.
        goal_height: y of the goal.
        spread: Start and goal are uniform in [-spread, spread] along x.
        jitter: Every drone starts up to this far from its corner of the triangle, per axis.
        goal_radius: The goal is reached when the centre of mass is within this distance.
        collision_distance: Closer to the opponent than this is a collision.
        effort: Unit of the effort: the flown ``"velocity"`` in m/s, or the ``"command"`` in [-1, 1]. In units of the
            command any flight to the goal costs more than it earns, and standing still would be optimal.
    """

    horizon: int = 2000
    x_limit: float = 0.95
    y_limit: float = 0.95
    time_step: float = 0.1
    max_speed: float = 0.05
    lane: float = 0.0
    opponent_speeds: tuple[float, ...] = (0.03, 0.04)
    flip_probability: float = 0.05
    side: float = 0.45
    start_height: float = -0.55
    goal_height: float = 0.55
    spread: float = 0.3
    jitter: float = 0.1
    goal_radius: float = 0.1
    collision_distance: float = 0.1
    effort: Literal["velocity", "command"] = "velocity"

    def __post_init__(self) -> None:
        """Raise for options that do not describe a valid environment."""
        _checks.whole("horizon", self.horizon, 1)
        if not isinstance(self.effort, str) or self.effort not in ("velocity", "command"):
            _checks.fail("effort", "be 'velocity' or 'command'", repr(self.effort))
        for name in ("x_limit", "y_limit", "time_step", "max_speed", "side", "goal_radius", "collision_distance"):
            _checks.positive(name, getattr(self, name))
        _checks.non_negative("jitter", self.jitter)
        _checks.non_negative("spread", self.spread)
        _checks.between("goal_height", self.goal_height, -self.y_limit, self.y_limit)
        _checks.finite("start_height", self.start_height)
        _checks.finite("lane", self.lane)
        reach = self.side / math.sqrt(3) + self.jitter
        if self.spread + reach > self.x_limit or abs(self.start_height) + reach > self.y_limit:
            _checks.fail("start_height, spread, side and jitter", "keep the start inside the arena", f"reach {reach:g}")
        if abs(self.start_height - self.lane) <= reach + self.collision_distance:
            _checks.fail("lane", "stay clear of the start zone", self.lane)


class CrazyflieFormation(FlightArena):
    r"""Bring a triangle of three drones to the goal quickly, away from walls and opponent, and in shape.

    With :math:`D` the distance of the centre of mass to the goal and :math:`\mathcal{E}` the largest deviation of
    a side from 0.45 m:

    .. math::
        r_{goal} &= 5 (D_{t-1} - D_t) - 0.1 \bar E_t + 10\,[D_t < 0.1] - 5\,[\text{collision}] \\
        r_{bounds} &= 0.1 \min_i \mathrm{clip}(d_{wall,i} / 0.2, 0, 1) \\
        r_{avoid} &= 0.2 \min_i \mathrm{clip}(d_{opp,i} / 0.4, 0, 1) - 10\,[\text{collision}] \\
        r_{form} &= e^{-5 \mathcal{E}_t} - \mathrm{clip}(\mathcal{E}_t, 0, 1)

    where :math:`\bar E` is the mean speed of the three drones in m/s. One central policy commands all drones: the
    action is three velocity commands in :math:`[-1, 1]^2`, each shortened to length 1 and scaled to at most 0.05 m/s.
    An episode terminates at the goal, on a collision with the opponent or on a boundary violation, and is truncated
    after 2000 steps. Drones do not collide with each other, as in the paper.

    Observation (22): positions, offsets of the three pairs (each drone to the next), vector from the centre of mass to
    the goal, the last 4 positions of the opponent, newest first.

    It takes the arguments of :class:`~morl_envs.base.BatchedEnv`; its options are the fields of
    :class:`FormationOptions`.

    Example:
        >>> env = CrazyflieFormation(batch_size=[4], seed=0)
        >>> env.rollout(3)["next", "reward"].shape
        torch.Size([4, 3, 4])
    """

    objectives = ("goal", "bounds", "avoid", "formation")

    def configure(self, **options: Any) -> Sizes:
        """Store :class:`FormationOptions`, the opponent's motion and the walls."""
        self.options = o = FormationOptions(**options)
        patrol = Patrol((o.lane,), o.opponent_speeds, o.x_limit, o.flip_probability, o.time_step)
        self.enclose(o.x_limit, o.y_limit, patrol)
        numbers = 2 * DRONES
        return Sizes(o.horizon, (-1.0,) * numbers, (1.0,) * numbers, numbers + 2 * len(PAIRS) + 2 + 2 * HISTORY)

    def draw(self, key: Tensor) -> State:
        """Return new episodes: a triangle with jitter at the bottom, the goal at the top, the opponent on its lane."""
        o = self.options
        numbers = 2 * uniform(key, _OWN_COUNTERS, 2 + 2 * DRONES) - 1
        centre = torch.stack([numbers[:, 0] * o.spread, torch.full_like(numbers[:, 0], o.start_height)], -1)
        corners = torch.tensor(triangle(o.side), dtype=torch.float32, device=self.device)
        return {
            **draw_opponents(key, self.patrol),
            "position": centre.unsqueeze(1) + corners + o.jitter * numbers[:, 2:].reshape(-1, DRONES, 2),
            "goal": torch.stack([numbers[:, 1] * o.spread, torch.full_like(numbers[:, 1], o.goal_height)], -1),
            **self.no_events(len(key)),
        }

    def advance(self, state: State, action: Tensor) -> tuple[State, Tensor, Tensor]:
        """Move the opponent and the drones, and compute the reward."""
        o, goal = self.options, state["goal"]
        commands = action.view(-1, DRONES, 2)
        traffic = move_opponents(state, self.patrol)
        position = fly(state["position"], commands, o.time_step * o.max_speed)
        wall = wall_distance(position, self._limits).amin(-1)
        opponent_distance = norm(position - traffic["opponents"][:, 0]).amin(-1)
        before, after = norm(centre_of_mass(state["position"]) - goal), norm(centre_of_mass(position) - goal)
        collided, violated = opponent_distance < o.collision_distance, wall < 0
        reached = (after < o.goal_radius) & ~(collided | violated)
        error = shape_error(position, o.side)
        effort = norm(commands) if o.effort == "command" else norm(position - state["position"]) / o.time_step
        first, second, third = effort.unbind(1)
        # Convert explicitly: a bool times 10 has PyTorch's default dtype, which a user may have changed.
        bonus, hit = reached.to(after.dtype), collided.to(after.dtype)
        reward = torch.stack(
            [
                5.0 * (before - after) - (0.1 / DRONES) * (first + second + third) + 10.0 * bonus - 5.0 * hit,
                0.1 * (wall / 0.2).clamp(0, 1),
                0.2 * (opponent_distance / 0.4).clamp(0, 1) - 10.0 * hit,
                (-5.0 * error).exp() - error.clamp(0, 1),
            ],
            -1,
        )
        events = {"collided": collided, "violated": violated, "reached": reached}
        return {**traffic, **events, "position": position}, reward, collided | violated | reached

    def observe(self, state: State) -> Tensor:
        """Return positions, pair offsets, vector to the goal, and the opponent's last positions, ``[N, 22]``."""
        position = state["position"]
        to_goal = state["goal"] - centre_of_mass(position)
        offsets = sides(position).flatten(1)
        return torch.cat([position.flatten(1), offsets, to_goal, state["opponents"].flatten(1)], -1)

    def bounds(self) -> Bounds:
        """Return the ranges of observations and rewards; a violation ends at most one step outside the arena."""
        o = self.options
        step = o.time_step * o.max_speed
        own = [o.x_limit + step, o.y_limit + step]
        high = own * DRONES + [2 * limit for limit in own] * (len(PAIRS) + 1) + own * HISTORY
        low = [-5.0 * step - 0.1 * math.sqrt(2) - 5.0, 0.0, -10.0, -1.0]
        return Bounds([-limit for limit in high], high, low, [10.0 + 5.0 * step, 0.1, 0.2, 1.0])


def triangle(side: float) -> list[list[float]]:
    """Return the corners of an equilateral triangle around the origin, one corner up.

    Example:
        >>> [[round(x, 3) for x in corner] for corner in triangle(1.0)]
        [[0.0, 0.577], [-0.5, -0.289], [0.5, -0.289]]
    """
    radius = side / math.sqrt(3)
    return [[0.0, radius], [-side / 2, -radius / 2], [side / 2, -radius / 2]]


def centre_of_mass(position: Tensor) -> Tensor:
    """Return the mean position of the three drones, ``[N, 3, 2]`` -> ``[N, 2]``."""
    first, second, third = position.unbind(1)
    return (first + second + third) / DRONES


def sides(position: Tensor) -> Tensor:
    """Return the vector from each drone to the next, in the order of ``PAIRS``, ``[N, 3, 2]``."""
    return position.roll(-1, 1) - position


def shape_error(position: Tensor, side: float) -> Tensor:
    r"""Return :math:`\mathcal{E} = \max_{i<j} | \lVert p_i - p_j\rVert - L |`, ``[N, 3, 2]`` -> ``[N]``.

    Example:
        >>> shape_error(torch.tensor([triangle(0.5)]), side=0.45).round(decimals=4)
        tensor([0.0500])
    """
    return (norm(sides(position)) - side).abs().amax(-1)
