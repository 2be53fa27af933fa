import numpy as np
import pytest

from morl_envs import CARDS, exact_front
from morl_recipes import distance_to_exact
from tests.refusals import refused

KNOWN = [card.name for card in CARDS.values() if card.exact_front is not None]


@pytest.mark.parametrize("gamma", [1.0, 0.95])
@pytest.mark.parametrize("env", KNOWN)
def test_the_exact_front_is_at_no_distance_from_itself(env: str, gamma: float) -> None:
    exact = exact_front(env, gamma)
    share, shortfall, epsilon, found, total = distance_to_exact(exact, env, gamma)
    assert (shortfall, found, total) == (0.0, len(exact), len(exact))
    assert share == pytest.approx(1.0)
    assert epsilon == pytest.approx(0.0)


def test_closed_form_on_deep_sea_treasure() -> None:
    """One treasure, 0.7 after one step: its box is 0.7 x 49 of 994.3, and 23 of treasure are missing at most."""
    distance = distance_to_exact([[0.7, -1.0]], "deep-sea-treasure-v0")
    assert distance.hv_share == pytest.approx(0.7 * 49 / 994.3)
    assert distance.epsilon == pytest.approx(23.7 - 0.7)
    assert (distance.found, distance.total) == (1, 10)
    missing = np.maximum(exact_front("deep-sea-treasure-v0") - [0.7, -1.0], 0)
    assert distance.igd_plus == pytest.approx(np.linalg.norm(missing, axis=1).mean())


def test_the_reference_decides_and_points_below_it_are_worth_nothing() -> None:
    assert distance_to_exact([[0.0, -60.0]], "deep-sea-treasure-v0").hv_share == 0
    nearer = distance_to_exact([[0.7, -1.0]], "deep-sea-treasure-v0", reference=[0.0, -20.0]).hv_share
    assert nearer == pytest.approx(0.7 * 19 / (994.3 - 23.7 * 30))
    with pytest.raises(ValueError, match="`reference` must lie below at least one point"):
        distance_to_exact([[0.7, -1.0]], "deep-sea-treasure-v0", reference=[30.0, -20.0])


def test_rounding_is_forgiven_and_misses_are_not() -> None:
    exact = exact_front("deep-sea-treasure-v0")
    assert distance_to_exact(exact + 1e-4, "deep-sea-treasure-v0").found == 10
    assert distance_to_exact(exact - 0.1, "deep-sea-treasure-v0").found == 0


def test_bad_input_is_named() -> None:
    refused("have a known exact front", distance_to_exact, [[1.0, 1.0]], "mo-halfcheetah-v5")
    refused("`points` must have 2 objectives", distance_to_exact, [[1.0, 1.0, 1.0]], "deep-sea-treasure-v0")
    refused("`points` must be finite, got nan", distance_to_exact, [[1.0, np.nan]], "deep-sea-treasure-v0")
    refused("`gamma` must lie in", distance_to_exact, [[1.0, 1.0]], "deep-sea-treasure-v0", gamma=0.0)
