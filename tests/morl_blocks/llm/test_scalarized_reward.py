import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from morl_blocks.llm import ScalarizedReward
from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff, Linear, SmoothTchebycheff
from morl_blocks.schedulers import ConflictBraked, LinearDecay
from tests.refusals import refused

HALF = torch.tensor([0.5, 0.5])
PROMPTS, COMPLETIONS = ["p", "p", "q"], ["a", "bb", "ccc"]


def one(completions: list[str], **kwargs: Any) -> list[float]:
    return [len(text) / 4 for text in completions]


def other(completions: list[str], **kwargs: Any) -> list[float | None]:
    return [1 - len(text) / 4 for text in completions]


def test_scores_are_the_utilities() -> None:
    scalarizer = SmoothTchebycheff(0.1)
    reward = ScalarizedReward([one, other], scalarizer, HALF)
    values = torch.tensor([[0.25, 0.75], [0.5, 0.5], [0.75, 0.25]])
    assert reward(prompts=PROMPTS, completions=COMPLETIONS) == pytest.approx(scalarizer(values, HALF).tolist())
    assert reward.__name__ == "scalarized"


def test_normalizer_sees_the_batch_first() -> None:
    class Largest(torch.nn.Module):
        def update(self, values: torch.Tensor) -> None:
            self.largest = values.amax(0)

        def forward(self, values: torch.Tensor) -> torch.Tensor:
            return values / self.largest

    reward = ScalarizedReward([one, other], Linear(), HALF, normalizer=Largest())
    assert reward(PROMPTS, COMPLETIONS) == pytest.approx([2 / 3, 2 / 3, 2 / 3])


def test_normalizer_comes_before_the_utility() -> None:
    reward = ScalarizedReward([one, other], Linear(), HALF, normalizer=lambda values: values * 2)
    assert reward(PROMPTS, COMPLETIONS) == pytest.approx([1.0, 1.0, 1.0])


@pytest.mark.parametrize("hole", [None, math.nan])
def test_a_missing_reward_gives_none(hole: float | None) -> None:
    def holes(**kwargs: Any) -> list[float | None]:
        return [hole, 0.5, 0.5]

    reward = ScalarizedReward([one, holes], Linear(), HALF)
    assert reward(PROMPTS, COMPLETIONS) == [None, pytest.approx(0.5), pytest.approx(0.625)]
    assert ScalarizedReward([holes, lambda **_: [None] * 3], Linear(), HALF)(PROMPTS, COMPLETIONS) == [None] * 3


def test_reward_functions_get_what_trl_passes() -> None:
    def asks(prompts: list[str], completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        return [float(text == right) for text, right in zip(completions, answer, strict=True)]

    reward = ScalarizedReward([one, asks], Linear(), torch.tensor([0.0, 1.0]))
    assert reward(PROMPTS, COMPLETIONS, answer=["a", "b", "ccc"]) == [1.0, 0.0, 1.0]


def test_scheduler_follows_the_training_and_metrics_are_logged() -> None:
    logged: dict[str, float] = {}
    scalarizer = AdaptiveSmoothTchebycheff(LinearDecay(1.0, 0.1))
    reward = ScalarizedReward([one, other], scalarizer, HALF)
    for step, mu in [(0, 1.0), (5, 0.55), (5, 0.55), (10, 0.1)]:
        state = SimpleNamespace(global_step=step, max_steps=10)
        reward(PROMPTS, COMPLETIONS, trainer_state=state, log_metric=logged.__setitem__)
        assert float(scalarizer.mu) == pytest.approx(mu)
    assert logged["scalarized/one/mean"] == pytest.approx(0.5)
    assert logged["scalarized/mu"] == pytest.approx(0.1)
    assert logged["scalarized/one/attention"] + logged["scalarized/other/attention"] == pytest.approx(1.0)


def test_scheduler_is_stepped_once_per_training_step_with_the_conflict() -> None:
    scalarizer = AdaptiveSmoothTchebycheff(ConflictBraked(LinearDecay(1.0, 0.1), 10.0, smoothing=0.5))
    reward = ScalarizedReward([one, other], scalarizer, HALF)
    state = SimpleNamespace(global_step=0, max_steps=10)
    for _ in range(3):  # an evaluation before the step, say
        reward(PROMPTS, COMPLETIONS, trainer_state=state)
    assert float(scalarizer.mu) == pytest.approx(5.5)  # full conflict: half of the way from 1 to 10


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"reward_funcs": [one]}, "`reward_funcs` must be two or more functions"),
        ({"reward_funcs": [one, "other"]}, "`reward_funcs` must be two or more functions"),
        ({"weights": torch.tensor([0.2, 0.3, 0.5])}, "`weights` must have 2 objectives"),
        ({"weights": torch.tensor([[0.5, 0.5]])}, "`weights` must have shape"),
        ({"scalarizer": "stch"}, "`scalarizer` must be a Scalarizer"),
        ({"scalarizer": Linear(sense="min")}, "`scalarizer` must be one to maximise"),
    ],
)
def test_bad_options(change: dict[str, Any], match: str) -> None:
    given: dict[str, Any] = {"reward_funcs": [one, other], "scalarizer": Linear(), "weights": HALF}
    refused(match, ScalarizedReward, **{**given, **change})


def test_bad_rewards() -> None:
    def short(**kwargs: Any) -> list[float]:
        return [0.0]

    refused("`short` must return one reward", ScalarizedReward([one, short], Linear(), HALF), PROMPTS, COMPLETIONS)
    with pytest.raises(ValueError, match="`rewards` must be finite"):
        ScalarizedReward([one, lambda **_: [math.inf] * 3], Linear(), HALF)(PROMPTS, COMPLETIONS)
    with pytest.raises(ValueError, match="`normalizer` must have shape"):
        ScalarizedReward([one, other], Linear(), HALF, normalizer=lambda values: values[0])(PROMPTS, COMPLETIONS)
