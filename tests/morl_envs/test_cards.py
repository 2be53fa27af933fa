import math
from dataclasses import FrozenInstanceError, fields

import pytest
import torch

from morl_envs import CARDS, make_batch
from morl_envs.cards import EnvCard

ALL = pytest.mark.parametrize("card", CARDS.values(), ids=lambda card: card.name)


@ALL
def test_a_card_tells_the_truth_about_its_environment(card: EnvCard) -> None:
    env = make_batch(card, 1)
    assert env.objectives == card.objectives
    assert env.horizon == card.horizon
    assert (env.observation_dim, env.action_dim, env.num_actions) == (
        card.observation_dim,
        card.action_dim,
        card.num_actions,
    )
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
    assert card.hv_origin
    assert 0 < card.gamma < 1


def test_the_stealth_bounds_are_those_the_tables_identify() -> None:
    card = CARDS["stealth"]
    assert card.hv_low == (0.81, 48.7, 0.0)
    ranges = [high - low for low, high in zip(card.hv_low, card.hv_high, strict=True)]
    assert math.prod(ranges) == pytest.approx(886_000)
    assert len(card.preferences) == 8


def test_the_preferences_of_the_paper() -> None:
    assert CARDS["frogger"].preferences == ((0.4, 0.05, 0.55),)
    assert CARDS["formation"].preferences == ((0.45, 0.05, 0.25, 0.25),)
    assert CARDS["mo-halfcheetah-v5"].preferences[0] == pytest.approx((10 / 11, 1 / 11))
    assert CARDS["mo-humanoid-v5"].preferences[0] == pytest.approx((1.25 / 1.35, 0.1 / 1.35))
    assert CARDS["mo-walker2d-v5"].preferences[0] == pytest.approx((1 / 1.001, 0.001 / 1.001))
    assert CARDS["mo-ant-v5"].preferences[0] == pytest.approx((2 / 3, 0, 1 / 3))


def test_cards_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        CARDS["stealth"].horizon = 3  # type: ignore[misc]
    assert {field.name for field in fields(EnvCard)} >= {"objectives", "horizon", "gamma", "hv_low", "hv_high"}
