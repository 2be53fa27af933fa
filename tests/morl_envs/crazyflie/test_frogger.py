from typing import Any

import pytest
import torch

from morl_envs import CrazyflieFrogger
from tests.refusals import refused


def place(position: tuple[float, float], goal: tuple[float, float], opponent_x: float = -0.9) -> CrazyflieFrogger:
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
        # (0, -0.6) -> one step up: 5 mm nearer, far from wall and traffic
        ((0.0, -0.6), -0.9, (0.0, 1.0), (0.005, 0.1, 0.1), False),
        # 5 cm from the wall after the step; traffic 0.895 m away
        ((0.0, -0.905), -0.9, (0.0, 1.0), (0.005, 0.1 * 0.05 / 0.2, 0.1), False),
        # 0.2 m below an opponent after the step
        ((0.0, -0.505), 0.0, (0.0, 1.0), (0.005, 0.1, 0.1 * 0.2 / 0.3), False),
        # 0.095 m below it: a collision costs 15 on goal and 25 on avoid
        ((0.0, -0.4), 0.0, (0.0, 1.0), (0.005 - 15, 0.1, 0.1 * 0.095 / 0.3 - 25), True),
        # over the edge: 15 on goal and 25 on bounds, each applied
        ((0.0, -0.948), -0.9, (0.0, -1.0), (-0.005 - 15, -25.0, 0.1), True),
        # into the goal
        ((0.0, 0.752), -0.9, (0.0, 1.0), (0.005 + 10, 0.1 * 0.193 / 0.2, 0.1), True),
    ],
)
def test_rewards(
    position: tuple[float, float],
    opponent_x: float,
    action: tuple[float, float],
    expected: tuple[float, ...],
    terminated: bool,
) -> None:
    env = place(position, (0.0, 0.85), opponent_x)
    _, reward, ended, truncated = env.step_tensors(torch.tensor([action]))
    torch.testing.assert_close(reward[0], torch.tensor(expected), atol=2e-5, rtol=0)
    assert bool(ended) == terminated
    assert not bool(truncated)


def test_progress_is_clipped_and_signed() -> None:
    env = place((0.0, 0.0), (0.0, 0.85))
    assert float(env.step_tensors(torch.tensor([[0.0, -1.0]]))[1][0, 0]) == pytest.approx(-0.005, abs=1e-6)


def test_observation() -> None:
    env = place((0.1, -0.6), (0.2, 0.85), opponent_x=0.5)
    observation = env.observation()[0]
    assert observation[:4].tolist() == pytest.approx([0.1, -0.6, 0.1, 1.45])
    assert observation[4:8].tolist() == pytest.approx([0.5, -0.3, -0.9, 0.3])
    assert observation.shape == (20,)


def test_truncation_after_the_horizon() -> None:
    env = CrazyflieFrogger(batch_size=[3], horizon=4)
    flags = [env.step_tensors(torch.zeros(3, 2))[3].any().item() for _ in range(4)]
    assert flags == [False, False, False, True]


def test_a_termination_in_the_last_step_is_not_a_truncation() -> None:
    env = CrazyflieFrogger(start_height=-0.949, horizon=1)
    _, _, terminated, truncated = env.step_tensors(torch.tensor([[0.0, -1.0]]))
    assert (bool(terminated), bool(truncated)) == (True, False)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"horizon": 0}, "`horizon` must be a whole number >= 1, got 0"),
        ({"goal_radius": -0.1}, "`goal_radius` must be > 0, got -0.1"),
        ({"max_speed": 0.0}, "`max_speed` must be > 0"),
        ({"spread": 2.0}, "`spread` must lie in"),
        ({"start_height": -1.0}, "`start_height` must lie in"),
        ({"lanes": (-0.8,)}, "`lanes` must stay clear of the start"),
    ],
)
def test_bad_options(bad: dict[str, Any], message: str) -> None:
    refused(message, CrazyflieFrogger, **bad)


def test_the_goal_bonus_is_withheld_out_of_bounds() -> None:
    env = place((0.0, 0.948), (0.0, 0.95))
    _, reward, terminated, _ = env.step_tensors(torch.tensor([[0.0, 1.0]]))
    assert float(reward[0, 0]) == pytest.approx(0.002 - 0.003 - 15, abs=1e-5)
    assert bool(terminated)
    assert not bool(env.events()["success"])
