import math
import sys
from dataclasses import replace
from typing import Any

import gymnasium
import pytest
import torch

from morl_envs import CARDS, StealthVisualSearch, make_batch, register
from morl_envs.base import BatchedEnv
from morl_envs.cards import EnvCard
from morl_envs.heuristics import heuristics_of
from morl_envs.rendering.canvas import Canvas
from morl_envs.rendering.draw_stealth import draw_stealth
from morl_envs.rendering.scene import drawing_of
from tests.refusals import refused

ALL = pytest.mark.parametrize("card", CARDS.values(), ids=lambda card: card.name)


@ALL
def test_a_card_tells_the_truth_about_its_environment(card: EnvCard) -> None:
    env = make_batch(card, 1)
    for name in ("objectives", "horizon", "observation_dim", "action_dim", "num_actions"):
        assert getattr(env, name) == getattr(card, name), name
    assert env.reset_tensors().shape == (1, card.observation_dim)
    action = torch.zeros(1, dtype=torch.int64) if card.num_actions else torch.zeros(1, card.action_dim)
    assert env.step_tensors(action)[1].shape == (1, len(card.objectives))


@ALL
def test_preferences_and_bounds(card: EnvCard) -> None:
    count = len(card.objectives)
    for preference in card.preferences:
        assert len(preference) == count
        assert sum(preference) == pytest.approx(1)
        assert min(preference) >= 0
    assert len(card.hv_low) == len(card.hv_high) == count
    assert all(low < high for low, high in zip(card.hv_low, card.hv_high, strict=True))
    assert any(word in card.hv_origin for word in ("analytic", "chosen", "tables"))


def test_numbers_of_the_paper_and_of_the_published_protocols() -> None:
    card = CARDS["stealth"]
    assert card.hv_low == (0.81, 48.7, 0.0)
    ranges = [high - low for low, high in zip(card.hv_low, card.hv_high, strict=True)]
    assert math.prod(ranges) == pytest.approx(886_000)  # as the tables identify it
    assert len(card.preferences) == 8
    assert CARDS["frogger"].preferences == ((0.4, 0.05, 0.55),)
    assert CARDS["formation"].preferences == ((0.45, 0.05, 0.25, 0.25),)
    assert CARDS["mo-halfcheetah-v5"].preferences[0] == pytest.approx((10 / 11, 1 / 11))
    assert CARDS["mo-humanoid-v5"].preferences[0] == pytest.approx((1.25 / 1.35, 0.1 / 1.35))
    assert CARDS["mo-walker2d-v5"].preferences[0] == pytest.approx((1 / 1.001, 0.001 / 1.001))
    assert CARDS["mo-ant-v5"].preferences[0] == pytest.approx((2 / 3, 0, 1 / 3))
    assert CARDS["mo-hopper-v5"].objectives == ("speed", "height", "control cost")
    assert len(CARDS["mo-hopper-2obj-v5"].objectives) == len(CARDS["mo-ant-2obj-v5"].objectives) == 2
    assert CARDS["fruit-tree-v0"].horizon == 6
    assert CARDS["deep-sea-treasure-concave-v0"].hv_high == (124.0, -1.0)


class Pond(StealthVisualSearch):
    """A world that nothing but its card knows."""


def paint(env: Any, row: Any, trail: Any) -> Canvas:
    return draw_stealth(env, row, trail)


def drift(observation: torch.Tensor) -> torch.Tensor:
    return observation[:, :2]


def test_everything_follows_from_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pond", sys.modules[__name__])
    monkeypatch.setattr(Pond, "__module__", "pond")
    card = replace(
        CARDS["stealth"], name="pond", world="pond:Pond", drawing="pond:paint", heuristics=(("drifter", "pond:drift"),)
    )
    monkeypatch.setitem(CARDS, "pond", card)
    register(card)
    try:
        assert type(make_batch("Pond", 2)) is Pond
        assert gymnasium.make("morl_envs/Pond-v0", render_mode="rgb_array").reset(seed=0)[0].shape == (30,)
        assert drawing_of(Pond) is paint
        assert heuristics_of("pond") == {"drifter": drift}
    finally:
        del gymnasium.registry["morl_envs/Pond-v0"]


def test_a_subclass_is_drawn_like_its_parent_and_a_world_without_card_is_refused() -> None:
    assert drawing_of(Pond) is draw_stealth
    refused("`env` must have a card that names a drawing, got BatchedEnv", drawing_of, BatchedEnv)
