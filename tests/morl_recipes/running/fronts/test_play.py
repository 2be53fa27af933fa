import pytest
import torch

from morl_blocks.preferences import even_preferences
from morl_envs.toy import toy
from morl_recipes import Front
from morl_recipes.common.seeds import derive
from morl_recipes.evaluation.episodes import front_returns
from morl_recipes.evaluation.saved_policy import SavedPolicy
from morl_recipes.running.fronts.front import make_policy


def _modules(front: Front) -> list[SavedPolicy]:
    return [make_policy(policy, 2, front.network) for policy in front.policies]


@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_returns_are_those_of_a_plain_loop(conditioned: Front, gamma: float) -> None:
    modules = _modules(conditioned)
    weights = even_preferences(3, 2).expand(2, -1, -1)
    returns = front_returns(modules, [3, 4], weights, toy(horizon=6), episodes=2, gamma=gamma)
    assert returns.shape == (2, 3, 2, 2)
    for run, seed in enumerate((3, 4)):
        for index, preference in enumerate(weights[run]):
            for episode in range(2):
                env = toy(horizon=6).make(1, [derive(seed, "front", episode)])
                observation, total = env.reset_tensors(), torch.zeros(2)
                for step in range(6):
                    observation, reward, *_ = env.step_tensors(modules[run](observation, preference.unsqueeze(0)))
                    total += gamma**step * reward[0]
                torch.testing.assert_close(returns[run, index, episode], total, rtol=1e-5, atol=1e-5)


def test_a_policy_does_not_depend_on_its_neighbours(conditioned: Front) -> None:
    modules = _modules(conditioned)
    weights = even_preferences(4, 2).expand(2, -1, -1)
    both = front_returns(modules, [3, 4], weights, toy(), episodes=2)
    alone = front_returns(modules[1:], [4], weights[1:, 1:2], toy(), episodes=2)
    torch.testing.assert_close(both[1:, 1:2], alone)


def test_the_front_holds_means_and_standard_errors(conditioned: Front) -> None:
    modules = _modules(conditioned)
    returns = front_returns(modules, [3, 4], even_preferences(5, 2).expand(2, -1, -1), toy(), episodes=3).double()
    torch.testing.assert_close(torch.from_numpy(conditioned.returns), returns.mean(2).flatten(0, 1))
    torch.testing.assert_close(torch.from_numpy(conditioned.errors), (returns.std(2) / 3**0.5).flatten(0, 1))
