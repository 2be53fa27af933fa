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


@pytest.mark.parametrize(
    ("world", "event"),
    [
        *(("CrazyflieFrogger", event) for event in ("reached", "collided", "violated")),
        *(("StealthVisualSearch", event) for event in ("scanned", "collided")),
    ],
)
def test_outcomes_are_written(world: str, event: str) -> None:
    env = create_world(world)
    scene = Scene(env)
    scene.record()
    before = scene.frame()
    state = env.get_state()
    env.set_state({**state, event: torch.ones_like(state[event])})
    changed = scene.frame() != before
    assert changed.any()
    assert changed[:, 500:].any() or world == "StealthVisualSearch"
    refused(r"`index` must lie in \[0, 0\], got 2", Scene, env, index=2)
