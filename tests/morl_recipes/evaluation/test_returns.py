from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from morl_envs import exact_front, make_batch
from morl_recipes import play_returns
from morl_recipes.evaluation.episodes import episode_returns

RIGHT, DOWN = 3, 1


def ways(*lengths: int) -> Callable[[Tensor], Tensor]:
    """Environment k goes right for ``lengths[k]`` steps, then down to the treasure."""
    taken = torch.zeros(len(lengths), dtype=torch.int64)

    def act(observation: Tensor) -> Tensor:
        action = torch.where(taken < torch.tensor(lengths), RIGHT, DOWN)
        taken.add_(1)
        return action

    return act


@pytest.mark.parametrize("gamma", [1.0, 0.99, 0.9])
def test_treasures_are_worth_what_the_exact_front_says(gamma: float) -> None:
    """Episodes of 1 and 3 steps: the first ends long before the second."""
    returns = play_returns(ways(0, 1), make_batch("deep-sea-treasure-v0", 2), gamma)
    exact = exact_front("deep-sea-treasure-v0", gamma)
    assert all(np.isclose(exact, point).all(1).any() for point in returns)
    np.testing.assert_allclose(returns[:, 1], [-1, -(1 + gamma + gamma**2)])
    env = make_batch("deep-sea-treasure-v0", 2)
    np.testing.assert_allclose(episode_returns(env, ways(0, 1), gamma), returns, rtol=1e-6)


def test_an_episode_that_never_ends_is_cut_off_at_the_horizon() -> None:
    up = play_returns(lambda seen: torch.zeros(len(seen), dtype=torch.int64), make_batch("deep-sea-treasure-v0", 1))
    assert up.tolist() == [[0.0, -100.0]]


def test_bad_discounts_are_refused() -> None:
    with pytest.raises(ValueError, match=r"`gamma` must lie in \(0, 1\]"):
        play_returns(ways(0), make_batch("deep-sea-treasure-v0", 1), gamma=2.0)
