from itertools import product

import gymnasium
import moocore
import numpy as np
import pytest

from morl_envs import CARDS, exact_front
from morl_envs.fronts import non_dominated, resource_gathering_front
from tests.refusals import refused

KNOWN = [card.name for card in CARDS.values() if card.exact_front is not None]


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("gamma", [1.0, 0.95])
def test_a_front_is_not_dominated_by_its_own_points(name: str, gamma: float) -> None:
    front = exact_front(name, gamma)
    assert front.shape[1] == len(CARDS[name].objectives)
    assert moocore.is_nondominated(front, maximise=True, keep_weakly=False).all()


def test_the_known_hypervolume_of_deep_sea_treasure_and_environments_without_a_known_front() -> None:
    front = exact_front("deep-sea-treasure-v0")
    assert len(front) == 10
    assert moocore.hypervolume(front, ref=[0, -50], maximise=True) == pytest.approx(994.3)
    refused(r"`name` must have a known exact front \(deep-sea-.*\)", exact_front, "four-room-v0", 0.99)
    refused(r"`gamma` must lie in \(0, 1\], got 1.5", exact_front, "fruit-tree-v0", 1.5)


def test_discounted_treasure_is_what_the_shortest_way_earns() -> None:
    """Play two ways by hand: one step down, and one right and two down."""
    front, gamma = exact_front("deep-sea-treasure-concave-v0", 0.9), 0.9
    env = gymnasium.make("deep-sea-treasure-concave-v0", disable_env_checker=True)
    for way in ([1], [3, 1, 1]):
        env.reset()
        rewards = [np.asarray(env.step(move)[1], np.float64) for move in way]
        earned = sum(gamma**step * reward for step, reward in enumerate(rewards))
        assert np.isclose(front, earned).all(1).any()


def test_every_fruit_can_be_reached() -> None:
    env = gymnasium.make("fruit-tree-v0", disable_env_checker=True)
    found = []
    for way in product((0, 1), repeat=6):
        env.reset()
        found.append(0.9**5 * np.asarray([env.step(move)[1] for move in way][-1], np.float64))
    np.testing.assert_allclose(exact_front("fruit-tree-v0", 0.9), non_dominated(found), rtol=1e-6)


def test_resource_gathering_with_discount_holds_the_ways_that_mo_gymnasium_counts() -> None:
    """It counts six ways, discounted by one step too many; ours must hold or dominate all, and the safe way."""
    gamma = 0.9
    front = exact_front("resource-gathering-v0", gamma)
    theirs = np.asarray(gymnasium.make("resource-gathering-v0").unwrapped.pareto_front(gamma)) / gamma  # type: ignore[attr-defined]
    assert all((front >= point - 1e-12).all(1).any() for point in theirs)
    assert np.isclose(front, [0.0, gamma**17, gamma**17]).all(1).any()
    assert exact_front("resource-gathering-v0").tolist() == [[0.0, 1.0, 1.0]]
    np.testing.assert_allclose(front, non_dominated(resource_gathering_front(CARDS["resource-gathering-v0"], gamma)))
