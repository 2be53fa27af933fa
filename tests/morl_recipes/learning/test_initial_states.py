import pytest
import torch

from morl_recipes.learning.rollout import InitialStates


def test_the_latest_of_each_run_are_kept_in_order_of_time() -> None:
    states = InitialStates(torch.zeros(2, 2, 1), count=3)
    observation = torch.arange(1.0, 13.0).reshape(2, 2, 3, 1)  # [R, E, T, n]
    begun = torch.zeros(2, 2, 3, 1, dtype=torch.bool)
    begun[0, 0, 0] = begun[0, 1, 0] = begun[0, 0, 2] = begun[0, 1, 2] = True
    states.keep(observation, begun)
    assert states.observation[0].flatten().tolist() == [4.0, 3.0, 6.0]
    assert states.observation[1].flatten().tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_first_episodes_fill_it(count: int) -> None:
    first = torch.tensor([[[1.0], [2.0]]])
    assert InitialStates(first, count=count).observation.flatten().tolist() == [1.0, 2.0, 1.0, 2.0, 1.0][:count]
