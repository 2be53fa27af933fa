import math
from typing import Any

import pytest
import torch
from torch import Tensor

from morl_envs import StealthVisualSearch
from morl_envs.protocol import State

OPEN: dict[str, Any] = {"num_circles": 0, "num_boxes": 0}
ACTION = torch.zeros(1, 2)


def inject(env: StealthVisualSearch, **values: Tensor) -> State:
    """Put one environment into a given state."""
    state = env.get_state()
    for name, value in values.items():
        assert state[name].shape[1:] == value.shape
        state[name] = value[None].to(state[name].dtype)
    env.set_state(state)
    return state


def test_kinematics_and_actions_are_clipped() -> None:
    env = StealthVisualSearch(**OPEN)
    inject(env, position=torch.tensor([0.0, 0.0]), heading=torch.tensor(math.pi / 6))
    observation, *_ = env.step_tensors(torch.tensor([[0.8, -0.5]]))
    state, pose = env.get_state(), torch.tensor([0.03464102, 0.02, math.cos(0.49859878), math.sin(0.49859878)])
    torch.testing.assert_close(state["position"][0], pose[:2])
    assert float(state["heading"]) == pytest.approx(0.49859878)
    torch.testing.assert_close(observation[0, :4], pose)
    one, other = StealthVisualSearch(batch_size=[8]), StealthVisualSearch(batch_size=[8])
    wild = torch.linspace(-5, 5, 16).view(8, 2)
    tame = torch.stack([wild[:, 0].clamp(0, 1), wild[:, 1].clamp(-1, 1)], -1)
    for a, b in zip(one.step_tensors(wild), other.step_tensors(tame), strict=True):
        assert torch.equal(a, b)


def test_collisions_undo_the_move_turn_the_heading_and_cost_all_stealth() -> None:
    env = StealthVisualSearch(**OPEN)
    inject(env, position=torch.tensor([0.93, 0.0]), heading=torch.tensor(0.0))
    observation, reward, *_ = env.step_tensors(torch.tensor([[1.0, 1.0]]))
    assert observation[0, :2].tolist() == pytest.approx([0.93, 0.0])
    assert float(env.get_state()["heading"]) == pytest.approx(0.05)
    assert reward[0, 1:].tolist() == [0, 0]
    assert bool(env.events()["collision"])


FAR = torch.tensor([[-0.9, -0.9, 0.02]]), torch.tensor([[-0.9, 0.9, 0.02, 0.02]])


@pytest.mark.parametrize(
    ("obstacle", "x"),
    [
        ([0.2, 0.0, 0.1], 0.04),  # a circle
        ([0.025, 0.14, 0.091], 0.0),  # both ends of the path are free, its middle is not
        ([0.2, 0.02, 0.1, 0.1], 0.04),  # a box
        ([0.025, 0.14, 0.001, 0.0925], 0.0),  # both ends are free, but the disc sweeps over the corner of the box
    ],
)
def test_collision_with_obstacles(obstacle: list[float], x: float) -> None:
    env = StealthVisualSearch(num_circles=1, num_boxes=1)
    there = list(FAR)
    there[len(obstacle) - 3] = torch.tensor([obstacle])
    for (circles, boxes), collides in ((there, True), (FAR, False)):
        inject(env, circles=circles, boxes=boxes, position=torch.tensor([x, 0.0]), heading=torch.tensor(0.0))
        env.step_tensors(torch.tensor([[1.0, 0.0]]))
        assert bool(env.events()["collision"]) == collides


def test_scanning_rewards_and_blinds_the_sensors() -> None:
    env = StealthVisualSearch(num_targets=5, **OPEN)
    targets = torch.tensor([[0.1, 0.0], [0.15, 0.02], [0.25, 0.0], [0.5, 0.0], [-0.1, 0.0]])
    inject(env, position=torch.zeros(2), heading=torch.tensor(0.0), targets=targets, scanned=torch.zeros(5))
    observation, reward, *_ = env.step_tensors(ACTION)
    assert env.get_state()["scanned"][0].tolist() == [True, True, False, False, False]
    assert env.events()["scanned"].tolist() == [2]
    assert observation[0, 4:10].tolist() == pytest.approx([0, 0.2, 0, 0, 0.2, 0])
    assert float(reward[0, 0]) == pytest.approx(20 + 0.05 * 0.4)
    # Forward the lidar now sees the third target through the two that are gone; backward the one not in view.
    assert float(observation[0, 10]) == pytest.approx((0.25 - 0.03) / 0.35, abs=1e-5)
    assert float(observation[0, 20]) == pytest.approx((0.1 - 0.03) / 0.35, abs=1e-5)
    assert float(env.step_tensors(ACTION)[1][0, 0]) == pytest.approx(0.05 * 0.4)


def test_targets_behind_an_obstacle_are_neither_seen_nor_scanned() -> None:
    env = StealthVisualSearch(num_targets=1, num_circles=1, num_boxes=0)
    hidden = {"targets": torch.tensor([[0.18, 0.0]]), "position": torch.zeros(2), "heading": torch.tensor(0.0)}
    inject(env, circles=torch.tensor([[0.1, 0.0, 0.03]]), scanned=torch.zeros(1), **hidden)
    observation, reward, *_ = env.step_tensors(ACTION)
    assert observation[0, 4:10].sum() == 0
    assert float(reward[0, 0]) == 0


def test_the_robot_stays_free_over_two_hundred_thousand_random_steps() -> None:
    env, n = StealthVisualSearch(batch_size=[500], seed=0), 500
    o, layout, collisions = env.options, env.get_state(), 0
    circles, boxes = layout["circles"], layout["boxes"]
    generator = torch.Generator().manual_seed(0)
    for step in range(400):
        noise = torch.rand(n, 2, generator=generator)
        env.step_tensors(torch.stack([noise[:, 0] * 2, noise[:, 1] * 4 - 2 + math.sin(step / 20)], -1))
        state = env.get_state()
        position = state["position"][:, None]
        assert position.abs().max() <= 1 - o.robot_radius
        to_circle = (position - circles[..., :2]).norm(dim=-1) - circles[..., 2]
        to_box = ((position - boxes[..., :2]).abs() - boxes[..., 2:]).clamp(min=0).norm(dim=-1)
        assert torch.minimum(to_circle, to_box).min() >= o.robot_radius - 1e-6
        collisions += int(state["collided"].sum())
    assert collisions > 10_000  # it tried hard enough
