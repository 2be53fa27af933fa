"""The heuristics against a random policy: the margins below are those that the docs state."""

from typing import TypeAlias

import pytest
import torch

from morl_envs import CARDS, make_batch
from morl_envs.heuristics import HEURISTICS, RandomPolicy, mean_returns
from tests.refusals import refused

SEED, EPISODES = 1000, 64
Scores: TypeAlias = dict[str, dict[str, dict[str, float]]]  # mean returns: world -> policy -> objective
# (world, policy) -> objective -> least margin over the random policy (mean over 64 episodes)
MARGINS = {
    ("stealth", "wall follower"): {"stealth": 300.0},
    ("stealth", "greedy searcher"): {"score": 40.0},
    ("stealth", "sweeping explorer"): {"exploration": 15.0},
    ("frogger", "lane-waiting crosser"): {"goal": 10.0},
    ("frogger", "patient hoverer"): {"bounds": 40.0, "avoid": 4.0},
    ("frogger", "goal rusher"): {"goal": 5.0},
    ("formation", "formation keeper"): {"formation": 1300.0, "bounds": 20.0},
    ("formation", "goal rusher"): {"goal": 12.0},
}


@pytest.fixture(scope="module")
def scores() -> Scores:
    result: Scores = {}
    for world, policies in HEURISTICS.items():
        result[world] = {}
        for name in ("random", *policies):
            env = make_batch(world, EPISODES, seeds=SEED)
            policy = RandomPolicy(env) if name == "random" else policies[name]
            means = mean_returns(env, policy)[0].mean(0).tolist()
            result[world][name] = dict(zip(env.objectives, means, strict=True))
    return result


def test_each_heuristic_beats_random_on_its_own_objective(scores: Scores) -> None:
    assert set(MARGINS) == {(world, policy) for world, policies in HEURISTICS.items() for policy in policies}
    for (world, policy), margins in MARGINS.items():
        for objective, margin in margins.items():
            assert scores[world][policy][objective] >= scores[world]["random"][objective] + margin, (policy, objective)


def test_the_worlds_are_solvable_within_the_bounds_of_the_cards(scores: Scores) -> None:
    assert scores["frogger"]["lane-waiting crosser"]["goal"] > 11  # every episode reaches the goal, or nearly
    assert scores["stealth"]["greedy searcher"]["score"] > 50  # five of eight targets
    assert scores["formation"]["formation keeper"]["formation"] > 1900
    for world, policies in scores.items():
        for policy, returns in policies.items():
            highs = zip(returns.values(), CARDS[world].hv_high, strict=True)
            assert policy == "random" or all(value <= high for value, high in highs), policy


def test_lengths_stop_at_the_end_of_the_first_episode() -> None:
    env = make_batch("frogger", 3, horizon=5)
    _, lengths = mean_returns(env, lambda observation: torch.tensor([[0.0, 0.0]] * 3))
    assert lengths.tolist() == [5, 5, 5]
    refused("`env` must have continuous actions", RandomPolicy, make_batch("deep-sea-treasure-v0", 1))
