"""Step the MuJoCo robots of MO-Gymnasium together: MuJoCo steps each one, everything else is done once per batch.

MO-Gymnasium spends up to half of a step outside of MuJoCo, on small arrays, properties and dictionaries. Here each
environment costs one call of ``mj_step``. Observations, rewards and episode ends of all environments are computed at
once, by the same operations in the same order, so all numbers are bit-identical. The environments reset themselves as
before.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from gymnasium.utils.seeding import np_random
from numpy.typing import NDArray

from morl_envs.gymnasium_spaces import Floats

Doubles = NDArray[np.float64]
Flags = NDArray[np.bool_]
Steps = tuple[Floats, Floats, Flags]


class Robot(NamedTuple):
    """Observations and rewards of a robot in MO-Gymnasium. Weights and ranges are read from the environment itself.

    Attributes:
        energy: Objective for saving energy, computed from the sum of squared actions and the weight of their cost.
        skip: Leading coordinates that are not observed.
        clip: Largest observed velocity.
        place: The position that should move forward: ``qpos`` (one axis), ``torso`` (two axes) or the centre of
            ``mass``.
        height: Whether the height is an objective.
        bodies: Observations beside positions and velocities: names in MuJoCo's data, and the first row of each.
        healthy: Names of ranges, and the coordinates that they bound.
        normal: Whether a reset draws velocities from a normal distribution.
        always: Whether the reward for health is also paid in the step in which the robot falls.
        double: Whether actions are squared in double precision.
    """

    energy: Callable[[Any, float], Any]
    skip: int = 1
    clip: float | None = None
    place: str = "qpos"
    height: bool = False
    bodies: tuple[tuple[str, int], ...] = ()
    healthy: tuple[tuple[str, slice], ...] = ()
    normal: bool = False
    always: bool = False
    double: bool = False


def _plain(squares: Any, _: float) -> Any:
    return -squares


def _weighted(squares: Any, weight: float) -> Any:
    return -(weight * squares)


def _tenfold(squares: Any, weight: float) -> Any:
    return 10 * -(weight * squares)


def _unweighted(squares: Any, weight: float) -> Any:
    return -(weight * squares) / weight  # rounds differently from `-squares`


_Z, _ANGLE = ("_healthy_z_range", slice(1, 2)), ("_healthy_angle_range", slice(2, 3))
_HOPPER = Robot(_unweighted, clip=10, height=True, healthy=(_Z, _ANGLE, ("_healthy_state_range", slice(2, None))))
_WALKER = Robot(_unweighted, clip=10, healthy=(_Z, _ANGLE))
_ANT = Robot(_unweighted, skip=2, place="torso", healthy=(("_healthy_z_range", slice(2, 3)),), normal=True)
_HUMANOID = _ANT._replace(place="mass", normal=False, double=True)
_BODIES = (("cinert", 1), ("cvel", 1), ("qfrc_actuator", 6), ("cfrc_ext", 1))
ROBOTS = {
    "half_cheetah_v4": Robot(_weighted, normal=True),
    "half_cheetah_v5": Robot(_unweighted, normal=True),
    "swimmer_v4": Robot(_plain, skip=2),
    "swimmer_v5": Robot(_unweighted, skip=2),
    "hopper_v4": _HOPPER._replace(energy=_plain, always=True),
    "hopper_v5": _HOPPER,
    "walker2d_v4": _WALKER._replace(energy=_plain, always=True),
    "walker2d_v5": _WALKER,
    "ant_v4": _ANT._replace(always=True),
    "ant_v5": _ANT._replace(bodies=_BODIES[-1:]),
    "humanoid_v4": _HUMANOID._replace(energy=_tenfold, bodies=tuple((name, 0) for name, _ in _BODIES), always=True),
    "humanoid_v5": _HUMANOID._replace(bodies=_BODIES),
}
"""Robots by the module of ``mo_gymnasium.envs.mujoco`` that defines them."""


class MujocoRobots:
    """Steps of several environments of one robot.

    Args:
        envs: The environments; all get the model of the first.
        robot: Its observations and rewards.
    """

    def __init__(self, envs: Sequence[Any], robot: Robot) -> None:
        import mujoco

        env = self._env = envs[0]
        self._robot, self._mujoco = robot, mujoco
        for other in envs[1:]:
            other.model, other.data = env.model, mujoco.MjData(env.model)
        self._data = [each.data for each in envs]
        # Views of the simulators' memory, which never moves.
        names = ("qpos", "qvel", *(name for name, _ in robot.bodies))
        self._controls = [data.ctrl for data in self._data]
        self._places = [_place(data, robot.place) for data in self._data]
        states = [[getattr(data, name).reshape(-1) for name in names] for data in self._data]
        self._parts = [[place, *state] for place, state in zip(self._places, states, strict=True)]
        self._widths = self._places[0].size, sum(part.size for part in states[0])
        self._observed = _observed(env, robot)
        self._low, self._high = _open_range(env, robot)
        self._forces = slice(-env.data.cfrc_ext.size, None) if "cfrc_ext" in names else None

    def reset(self, rows: Sequence[int], seeds: Sequence[int]) -> Floats:
        """Start episodes as the environments' ``reset(seed=...)`` does; return the observations, ``[rows, n]``."""
        env, model, scale = self._env, self._env.model, self._env._reset_noise_scale
        state = np.empty((len(rows), self._widths[1]))
        for index, (row, seed) in enumerate(zip(rows, seeds, strict=True)):
            data, random = self._data[row], np_random(seed)[0]
            self._mujoco.mj_resetData(model, data)
            data.qpos[:] = env.init_qpos + random.uniform(-scale, scale, model.nq)
            normal = self._robot.normal
            noise = scale * random.standard_normal(model.nv) if normal else random.uniform(-scale, scale, model.nv)
            data.qvel[:] = env.init_qvel + noise
            self._mujoco.mj_forward(model, data)
            np.concatenate(self._parts[row][1:], out=state[index])
        return self._observe(state)

    def step(self, actions: Floats) -> Steps:
        """Step every environment: observation ``[N, n]``, reward ``[N, m]`` and termination ``[N]``."""
        model, frames, contact = self._env.model, self._env.frame_skip, self._forces is not None
        step, forces = self._mujoco.mj_step, self._mujoco.mj_rnePostConstraint
        width = self._widths[0]
        before = np.empty((len(actions), width))
        after = np.empty((len(actions), sum(self._widths)))
        for row, data in enumerate(self._data):  # finish one simulator while its memory is in the cache
            before[row] = self._places[row]
            self._controls[row][:] = actions[row]
            step(model, data, frames)
            if contact:  # MuJoCo computes them on demand, and its next step does not use them
                forces(model, data)
            np.concatenate(self._parts[row], out=after[row])
        state = after[:, width:]
        bounded = state[:, : len(self._low)]
        # A step of MuJoCo empties the caches, so every call counts here; `reduce` skips a layer of Python.
        healthy: Flags = np.logical_and.reduce((self._low < bounded) & (bounded < self._high), axis=1)
        velocity = (self._forward(after[:, :width]) - self._forward(before)) / self._env.dt
        observation = self._observe(state)
        reward = self._reward(state, actions, velocity, healthy)
        return observation, reward, ~healthy

    def _forward(self, place: Doubles) -> Doubles:
        """Return the position that should move forward, ``[N, 1]``, or ``[N, 2]`` for both axes of the plane."""
        if self._robot.place != "mass":
            return place
        masses: Doubles = self._env.model.body_mass
        centre: Doubles = np.einsum("b,nbj->nj", masses, place.reshape(len(place), -1, 3)) / masses.sum()
        return centre[:, :1]

    def _observe(self, state: Doubles) -> Floats:
        """Return the observations, ``[N, n]``; the ant's contact forces are clipped in the state, too."""
        if self._forces is not None and (limits := getattr(self._env, "_contact_force_range", None)):
            _clip(state[:, self._forces], *limits)
        seen = [state[:, columns] for columns in self._observed]
        observation: Floats = np.concatenate(seen, 1, dtype=np.float32, casting="same_kind")
        if self._robot.clip is not None:
            _clip(observation[:, -self._env.model.nv :], -self._robot.clip, self._robot.clip)
        return observation

    def _reward(self, state: Doubles, actions: Floats, velocity: Doubles, healthy: Flags) -> Floats:
        """Return the objectives, ``[N, m]``, each rounded where MO-Gymnasium rounds it."""
        env, robot = self._env, self._robot
        squared = np.square(actions, dtype=np.float64 if robot.double else np.float32)
        squares = np.add.reduce(squared, axis=1)
        reward = np.empty((len(actions), env.reward_dim), np.float32)
        reward[:, : velocity.shape[1]] = velocity
        if robot.height:
            reward[:, 1] = 10 * (state[:, 1] - env.init_qpos[1])
        if getattr(env, "_cost_objective", True):
            reward[:, -1] = robot.energy(squares, env._ctrl_cost_weight)
        else:
            reward += _weighted(squares, env._ctrl_cost_weight)[:, None]
        if robot.healthy:
            reward += env._healthy_reward if robot.always else (healthy * env._healthy_reward)[:, None]
        if self._forces is not None and hasattr(env, "_contact_cost_weight"):
            cost = env._contact_cost_weight * np.square(state[:, self._forces]).sum(1)
            _clip(cost, *getattr(env, "_contact_cost_range", (-np.inf, np.inf)))
            reward -= cost[:, None]
        return reward


def mujoco_robots(envs: Sequence[Any]) -> MujocoRobots | None:
    """Return the joint steps of environments of one id; ``None`` for other environments and for robots with options."""
    package, _, name = type(envs[0]).__module__.rpartition(".")
    known = package == "mo_gymnasium.envs.mujoco" and name in ROBOTS
    known = known and envs[0].spec.kwargs.keys() <= {"cost_objective"}
    return MujocoRobots(envs, ROBOTS[name]) if known else None


def _place(data: Any, place: str) -> Doubles:
    """Return the view of a simulator's data that holds its position."""
    views = {"qpos": data.qpos[:1], "torso": data.body("torso").xpos[:2], "mass": data.xipos.reshape(-1)}
    view: Doubles = views[place]
    return view


def _observed(env: Any, robot: Robot) -> list[slice]:
    """Return the observed columns of the gathered state."""
    end = env.model.nq + env.model.nv
    columns = [slice(robot.skip, end)]
    for name, first in robot.bodies:
        field = getattr(env.data, name)
        columns.append(slice(end + first * field[0].size, end + field.size))
        end += field.size
    return columns


def _open_range(env: Any, robot: Robot) -> tuple[Doubles, Doubles]:
    """Return bounds that a healthy robot keeps its position and velocity strictly between; empty if there are none."""
    size = env.model.nq + env.model.nv if robot.healthy else 0
    low, high = np.full(size, -np.inf), np.full(size, np.inf)
    for name, columns in robot.healthy:
        least, most = getattr(env, name)
        if robot.place == "torso":  # the ant may touch its bounds
            least, most = np.nextafter(least, -np.inf), np.nextafter(most, np.inf)
        low[columns], high[columns] = np.maximum(low[columns], least), np.minimum(high[columns], most)
    return low, high


def _clip(values: NDArray[Any], low: float, high: float) -> None:
    """Clip in place; ``numpy.clip`` is slower for arrays of this size."""
    np.minimum(np.maximum(values, low, out=values), high, out=values)
