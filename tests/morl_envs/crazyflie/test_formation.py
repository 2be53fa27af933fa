import math
from typing import Any

import pytest
import torch
from torch import Tensor

from morl_envs import CrazyflieFormation
from morl_envs.crazyflie.formation import shape_error, triangle
from tests.refusals import refused


def place(
    centre: tuple[float, float], goal: tuple[float, float], opponent_x: float, **options: Any
) -> CrazyflieFormation:
    """Return one environment with a perfect triangle around a centre."""
    env = CrazyflieFormation(flip_probability=0.0, **options)
    state = env.get_state()
    state["position"] = torch.tensor([triangle(0.45)]) + torch.tensor(centre)
    state["goal"] = torch.tensor([goal])
    state["opponents"] = torch.tensor([opponent_x, 0.0]).expand(1, 4, 1, 2).clone()
    state["velocity"] = torch.zeros(1, 1)
    env.set_state(state)
    return env


UP = torch.tensor([[0.0, 1.0] * 3])
INNER = 0.45 / math.sqrt(3) / 2  # from the centre of a triangle to its sides
TOP = 0.95 - 0.45 / math.sqrt(3) - 0.001  # one step below the upper edge
STILL = torch.zeros(1, 6)


@pytest.mark.parametrize(
    ("y", "opponent_x", "action", "expected", "terminated"),
    [
        (-0.55, -0.9, STILL, [0.0, 0.1, 0.2, 1.0], False),  # far from wall and opponent, in a perfect triangle
        (0.03, -0.225, STILL, [-5.0, 0.1, 0.2 * (INNER - 0.03) / 0.4 - 10, 1.0], True),  # the lower left drone collides
        (-0.949 + INNER, -0.9, -UP, [-5 * 0.005 - 0.005, 0.0, 0.2, 1.0], True),  # out of the arena
    ],
)
def test_rewards(y: float, opponent_x: float, action: Tensor, expected: list[float], terminated: bool) -> None:
    env = place((0.0, y), (0.0, 0.55), opponent_x)
    _, reward, ended, _ = env.step_tensors(action)
    torch.testing.assert_close(reward[0], torch.tensor(expected), atol=1e-5, rtol=0)
    assert bool(ended) == terminated
    assert not env.events()["success"]


@pytest.mark.parametrize(("effort", "cost"), [("velocity", 0.1 * 0.05), ("command", 0.1)])
def test_goal_reward_pays_for_progress_and_costs_effort(effort: str, cost: float) -> None:
    env = place((0.0, -0.55), (0.0, 0.55), opponent_x=-0.9, effort=effort)
    reward = env.step_tensors(UP)[1][0]
    assert float(reward[0]) == pytest.approx(5 * 0.005 - cost, abs=1e-5)


@pytest.mark.parametrize(("y", "goal", "inside"), [(0.452, 0.55, True), (TOP, TOP, False)], ids=["inside", "outside"])
def test_goal_bonus_is_withheld_while_a_drone_is_out_of_bounds(y: float, goal: float, inside: bool) -> None:
    env = place((0.0, y), (0.0, goal), opponent_x=-0.9, goal_radius=0.095)
    _, reward, terminated, _ = env.step_tensors(UP)
    progress = 5 * 0.005 + 10 if inside else -5 * 0.005
    assert float(reward[0, 0]) == pytest.approx(progress - 0.005, abs=1e-4)
    assert bool(terminated)
    assert bool(env.events()["success"]) == inside


def test_formation_reward_uses_the_worst_side() -> None:
    for side, expected in ((0.45, 1.0), (0.55, math.exp(-0.5) - 0.1), (1.65, math.exp(-6) - 1)):
        error = shape_error(torch.tensor([triangle(side)]), 0.45)
        assert float((-5 * error).exp() - error.clamp(0, 1)) == pytest.approx(expected, abs=1e-5)
    env = place((0.0, -0.5), (0.0, 0.55), opponent_x=-0.9)
    state = env.get_state()
    state["position"][0, 1, 0] -= 0.1
    env.set_state(state)
    assert float(shape_error(state["position"], 0.45)) == pytest.approx(0.1, abs=1e-6)
    assert float(env.step_tensors(STILL)[1][0, 3]) == pytest.approx(math.exp(-0.5) - 0.1, abs=1e-5)


def test_observation() -> None:
    env = place((0.1, -0.5), (0.0, 0.55), opponent_x=0.3)
    observation = env.observation()[0]
    position = env.get_state()["position"][0]
    assert observation[:6].tolist() == position.flatten().tolist()
    torch.testing.assert_close(observation[6:8], position[1] - position[0])
    torch.testing.assert_close(observation[12:14], torch.tensor([-0.1, 1.05]))
    assert observation[14:16].tolist() == pytest.approx([0.3, 0.0])


def test_bad_options() -> None:
    refused("`horizon` must be a whole number >= 1", CrazyflieFormation, horizon=0)
    refused("`side` must be > 0", CrazyflieFormation, side=-1.0)
    refused("`jitter` must be >= 0", CrazyflieFormation, jitter=-0.1)
    refused("keep the start inside the arena", CrazyflieFormation, spread=0.9)
    refused("`lane` must stay clear of the start zone", CrazyflieFormation, lane=-0.5)
    refused("`effort` must be 'velocity' or 'command', got 'joules'", CrazyflieFormation, effort="joules")
