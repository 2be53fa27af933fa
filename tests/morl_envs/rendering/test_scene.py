import numpy as np
import pytest
import torch

from morl_envs.cards import world_cards
from morl_envs.rendering.scene import Scene
from morl_envs.worlds import create_world
from tests.refusals import refused


@pytest.mark.parametrize("world", [card.class_name for card in world_cards()])
def test_scene_follows_one_environment(world: str) -> None:
    env = create_world(world, batch_size=[3], horizon=20)
    scene = Scene(env, index=2)
    env.reset_tensors()
    scene.record()
    total = torch.zeros(len(env.objectives))
    for _ in range(5):
        reward = env.step_tensors(torch.full((3, env.action_dim), 0.5))[1][2]
        scene.record(reward.tolist())
        total += reward
    np.testing.assert_allclose(scene.returns, total, rtol=1e-5)
    assert len(scene.trail) == 6
    assert scene.frame().shape == (512, 758, 3)
    env.reset_tensors()
    scene.record()
    assert len(scene.trail) == 1
    assert scene.returns.sum() == 0


def test_found_targets_and_collisions_show() -> None:
    env = create_world("StealthVisualSearch")
    state = env.get_state()
    scene = Scene(env)
    scene.record()
    plain = scene.frame()
    env.set_state({**state, "scanned": torch.ones_like(state["scanned"])})
    found = scene.frame()
    env.set_state({**state, "collided": torch.ones_like(state["collided"])})
    crashed = scene.frame()
    assert (plain != found).any()
    assert (plain != crashed).any()


@pytest.mark.parametrize("event", ["reached", "collided", "violated"])
def test_outcomes_are_written(event: str) -> None:
    env = create_world("CrazyflieFrogger")
    scene = Scene(env)
    scene.record()
    before = scene.frame()
    state = env.get_state()
    env.set_state({**state, event: torch.ones_like(state[event])})
    assert (scene.frame() != before)[:, 500:].any()


def test_bad_index() -> None:
    refused(r"`index` must lie in \[0, 1\], got 2", Scene, create_world("CrazyflieFrogger", batch_size=[2]), index=2)
