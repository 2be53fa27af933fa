from typing import TypeAlias

import pytest
import torch

from morl_envs import CrazyflieFrogger
from tests.refusals import refused

Pair: TypeAlias = tuple[float, float]


def place(position: Pair, goal: Pair, opponent_x: float = -0.9) -> CrazyflieFrogger:
    """Return one environment with the drone, the goal and the lower opponent at given places."""
    env = CrazyflieFrogger(flip_probability=0.0)
    state = env.get_state()
    state["position"], state["goal"] = torch.tensor([position]), torch.tensor([goal])
    state["opponents"] = torch.tensor([[opponent_x, -0.3], [-0.9, 0.3]]).expand(1, 4, 2, 2).clone()
    state["velocity"] = torch.zeros(1, 2)
    env.set_state(state)
    return env


@pytest.mark.parametrize(
    ("position", "opponent_x", "action", "expected", "terminated"),
    [
        ((0.0, -0.6), -0.9, (0.0, 1.0), (0.005, 0.1, 0.1), False),  # a step up, far from wall and traffic
        ((0.0, -0.905), -0.9, (0.0, 1.0), (0.005, 0.1 * 0.05 / 0.2, 0.1), False),  # 5 cm from the wall afterwards
        ((0.0, -0.505), 0.0, (0.0, 1.0), (0.005, 0.1, 0.1 * 0.2 / 0.3), False),  # 0.2 m below an opponent
        ((0.0, -0.4), 0.0, (0.0, 1.0), (0.005 - 15, 0.1, 0.1 * 0.095 / 0.3 - 25), True),  # a collision
        ((0.0, -0.948), -0.9, (0.0, -1.0), (-0.005 - 15, -25.0, 0.1), True),  # over the edge
        ((0.0, 0.0), -0.9, (0.0, -1.0), (-0.005, 0.1, 0.1), False),  # back towards the start
        ((0.0, 0.752), -0.9, (0.0, 1.0), (0.005 + 10, 0.1 * 0.193 / 0.2, 0.1), True),  # into the goal
    ],
)
def test_rewards(
    position: Pair, opponent_x: float, action: Pair, expected: tuple[float, ...], terminated: bool
) -> None:
    env = place(position, (0.0, 0.85), opponent_x)
    _, reward, ended, truncated = env.step_tensors(torch.tensor([action]))
    torch.testing.assert_close(reward[0], torch.tensor(expected), atol=2e-5, rtol=0)
    assert bool(ended) == terminated
    assert not bool(truncated)


def test_observation() -> None:
    env = place((0.1, -0.6), (0.2, 0.85), opponent_x=0.5)
    observation = env.observation()[0]
    assert observation[:4].tolist() == pytest.approx([0.1, -0.6, 0.1, 1.45])
    assert observation[4:8].tolist() == pytest.approx([0.5, -0.3, -0.9, 0.3])
    assert observation.shape == (20,)


def test_ends_of_episodes() -> None:
    assert not CrazyflieFrogger().events()["success"]  # before the first step
    env = CrazyflieFrogger(start_height=-0.949, horizon=1)  # a termination in the last step is not a truncation
    _, _, terminated, truncated = env.step_tensors(torch.tensor([[0.0, -1.0]]))
    assert (bool(terminated), bool(truncated)) == (True, False)
    env = place((0.0, 0.948), (0.0, 0.95))  # the goal bonus is withheld out of bounds
    _, reward, terminated, _ = env.step_tensors(torch.tensor([[0.0, 1.0]]))
    assert float(reward[0, 0]) == pytest.approx(0.002 - 0.003 - 15, abs=1e-5)
    assert bool(terminated)
    assert not bool(env.events()["success"])


def test_bad_options() -> None:
    refused("`horizon` must be a whole number >= 1, got 0", CrazyflieFrogger, horizon=0)
    refused("`goal_radius` must be > 0, got -0.1", CrazyflieFrogger, goal_radius=-0.1)
    refused("`max_speed` must be > 0", CrazyflieFrogger, max_speed=0.0)
    refused("`spread` must lie in", CrazyflieFrogger, spread=2.0)
    refused("`start_height` must lie in", CrazyflieFrogger, start_height=-1.0)
    refused("`lanes` must stay clear of the start", CrazyflieFrogger, lanes=(-0.8,))
