"""The frogger environment: one quadrotor crosses two lanes of traffic."""

from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True)
class FroggerOptions:
    """Options of the frogger environment, in metres and seconds.

    Attributes:
        horizon: Steps per episode.
        x_limit: The drone must stay in [-x_limit, x_limit]; opponents bounce there.
        y_limit: The drone must stay in [-y_limit, y_limit].
        time_step: Seconds per step.
        max_speed: Speed of the drone at full command, m/s.
        lanes: Height of each opponent's lane.
        opponent_speeds: Every opponent draws its speed from these, once per episode.
        flip_probability: Chance per step that an opponent turns.
        start_height: y of the start (at the bottom edge).
        goal_height: y of the goal (at the top).
        spread: Start and goal are uniform in [-spread, spread] along x.
        goal_radius: The goal is reached within this distance.
        collision_distance: Closer to an opponent than this is a collision.
    """

    horizon: int = 1000
    x_limit: float = 0.95
    y_limit: float = 0.95
    time_step: float = 0.1
    max_speed: float = 0.05
    lanes: tuple[float, ...] = (-0.3, 0.3)
    opponent_speeds: tuple[float, ...] = (0.03, 0.04)
    flip_probability: float = 0.05
    start_height: float = -0.85
    goal_height: float = 0.85
    spread: float = 0.5
    goal_radius: float = 0.1
    collision_distance: float = 0.1

    def __post_init__(self) -> None:
        """Raise for options that do not describe a valid environment."""
        _checks.whole("horizon", self.horizon, 1)
        for name in ("x_limit", "y_limit", "time_step", "max_speed", "goal_radius", "collision_distance"):
            _checks.positive(name, getattr(self, name))
        _checks.between("start_height", self.start_height, -self.y_limit, self.y_limit)
        _checks.between("goal_height", self.goal_height, -self.y_limit, self.y_limit)
        _checks.between("spread", self.spread, 0, self.x_limit)
        _checks.numbers("lanes", self.lanes)
        for lane in self.lanes:
            if abs(lane - self.start_height) <= self.collision_distance:
                _checks.fail("lanes", "stay clear of the start by more than the collision distance", self.lanes)


class CrazyflieFrogger(FlightArena):
    r"""Cross two lanes of random traffic to the goal: quickly, away from the walls and away from the traffic.

    .. math::
        r_{goal} &= \mathrm{clip}(\lVert p_{t-1} - g\rVert - \lVert p_t - g\rVert, -1, 1) + 10\,[\text{goal}]
                    - 15\,[\text{collision or violation}] \\
        r_{bounds} &= 0.1\,\mathrm{clip}(d_{wall} / 0.2, 0, 1) - 25\,[\text{violation}] \\
        r_{avoid} &= 0.1\,\mathrm{clip}(d_{opp} / 0.3, 0, 1) - 25\,[\text{collision}]

    The action is a velocity command in :math:`[-1, 1]^2`, shortened to length 1 and scaled to at most 0.05 m/s. An
    episode terminates at the goal, on a collision or on a boundary violation, and is truncated after 1000 steps.

    Observation (20): own position, vector to the goal, the last 4 positions of both opponents, newest first.

    It takes the arguments of :class:`~morl_envs.base.BatchedEnv`; its options are the fields of
    :class:`FroggerOptions`.

    Example:
        >>> env = CrazyflieFrogger(batch_size=[4], seed=0)
        >>> env.rollout(3)["next", "reward"].shape
        torch.Size([4, 3, 3])
    """

    objectives = ("goal", "bounds", "avoid")

    def configure(self, **options: Any) -> Sizes:
        """Store :class:`FroggerOptions`, the opponents' motion and the walls."""
        self.options = o = FroggerOptions(**options)
        patrol = Patrol(o.lanes, o.opponent_speeds, o.x_limit, o.flip_probability, o.time_step)
        self.enclose(o.x_limit, o.y_limit, patrol)
        return Sizes(o.horizon, (-1.0, -1.0), (1.0, 1.0), observation_dim=4 + 2 * HISTORY * len(o.lanes))

    def draw(self, key: Tensor) -> State:
        """Return new episodes: the drone at the bottom, the goal at the top, opponents anywhere on their lanes."""
        o = self.options
        x = (2 * uniform(key, _OWN_COUNTERS, 2) - 1) * o.spread
        return {
            **draw_opponents(key, self.patrol),
            "position": torch.stack([x[:, 0], torch.full_like(x[:, 0], o.start_height)], -1),
            "goal": torch.stack([x[:, 1], torch.full_like(x[:, 1], o.goal_height)], -1),
            **self.no_events(len(key)),
        }

    def advance(self, state: State, action: Tensor) -> tuple[State, Tensor, Tensor]:
        """Move the opponents and the drone, and compute the reward."""
        o, goal = self.options, state["goal"]
        traffic = move_opponents(state, self.patrol)
        position = fly(state["position"], action, o.time_step * o.max_speed)
        wall = wall_distance(position, self._limits)
        traffic_distance = norm(position.unsqueeze(1) - traffic["opponents"][:, 0]).amin(-1)
        before, after = norm(state["position"] - goal), norm(position - goal)
        collided, violated = traffic_distance < o.collision_distance, wall < 0
        failed = collided | violated
        reached = (after < o.goal_radius) & ~failed
        # Convert explicitly: a bool times 10 has PyTorch's default dtype, which a user may have changed.
        bonus, failure, outside, hit = (flag.to(after.dtype) for flag in (reached, failed, violated, collided))
        reward = torch.stack(
            [
                (before - after).clamp(-1, 1) + 10.0 * bonus - 15.0 * failure,
                0.1 * (wall / 0.2).clamp(0, 1) - 25.0 * outside,
                0.1 * (traffic_distance / 0.3).clamp(0, 1) - 25.0 * hit,
            ],
            -1,
        )
        events = {"collided": collided, "violated": violated, "reached": reached}
        return {**traffic, **events, "position": position}, reward, failed | reached

    def observe(self, state: State) -> Tensor:
        """Return own position, vector to the goal, and the opponents' last positions, ``[N, 20]``."""
        position = state["position"]
        return torch.cat([position, state["goal"] - position, state["opponents"].flatten(1)], -1)

    def bounds(self) -> Bounds:
        """Return the ranges of observations and rewards; a violation ends at most one step outside the arena."""
        o = self.options
        step = o.time_step * o.max_speed
        own = [o.x_limit + step, o.y_limit + step]
        high = own + [2 * limit for limit in own] + own * (HISTORY * len(o.lanes))
        way = min(step, 1.0)
        return Bounds([-limit for limit in high], high, [-15.0 - way, -25.0, -25.0], [10.0 + way, 0.1, 0.1])
