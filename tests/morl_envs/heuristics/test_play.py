"""The heuristics against a random policy: the margins below are those that the docs state."""

from typing import TypeAlias

import pytest
import torch

from morl_envs import CARDS, make_batch
from morl_envs.heuristics import HEURISTICS, RandomPolicy, mean_returns
from tests.refusals import refused

SEED, EPISODES = 1000, 64
Scores: TypeAlias = dict[str, dict[str, dict[str, float]]]  # mean returns: world -> policy -> objective
# world -> policy -> objective -> least margin over the random policy (mean over 64 episodes)
MARGINS = {
    "stealth": {
        "wall follower": {"stealth": 300.0},
        "greedy searcher": {"score": 40.0},
        "sweeping explorer": {"exploration": 15.0},
    },
    "frogger": {
        "lane-waiting crosser": {"goal": 10.0},
        "patient hoverer": {"bounds": 40.0, "avoid": 4.0},
        "goal rusher": {"goal": 5.0},
    },
    "formation": {
        "formation keeper": {"formation": 1300.0, "bounds": 20.0},
        "goal rusher": {"goal": 12.0},
    },
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


@pytest.mark.parametrize("world", list(MARGINS))
def test_each_heuristic_beats_random_on_its_own_objective(world: str, scores: Scores) -> None:
    assert MARGINS[world].keys() == HEURISTICS[world].keys()
    for policy, margins in MARGINS[world].items():
        for objective, margin in margins.items():
            assert scores[world][policy][objective] >= scores[world]["random"][objective] + margin, (policy, objective)


@pytest.mark.parametrize(
    ("world", "first", "second"),
    [
        ("stealth", ("wall follower", "stealth"), ("greedy searcher", "score")),
        ("stealth", ("sweeping explorer", "exploration"), ("greedy searcher", "score")),
        ("stealth", ("wall follower", "stealth"), ("sweeping explorer", "exploration")),
        ("frogger", ("lane-waiting crosser", "goal"), ("patient hoverer", "avoid")),
        ("frogger", ("lane-waiting crosser", "goal"), ("patient hoverer", "bounds")),
        ("formation", ("goal rusher", "goal"), ("formation keeper", "formation")),
        ("formation", ("goal rusher", "goal"), ("formation keeper", "avoid")),
    ],
)
def test_objectives_conflict(
    world: str,
    first: tuple[str, str],
    second: tuple[str, str],
    scores: Scores,
) -> None:
    """Each of two policies is better on its own objective and worse on the other's."""
    (policy, own), (rival, other) = first, second
    assert scores[world][policy][own] > scores[world][rival][own]
    assert scores[world][policy][other] < scores[world][rival][other]


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
