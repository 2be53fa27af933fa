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


def test_scores_are_the_utilities_and_functions_get_what_trl_passes() -> None:
    def asks(prompts: list[str], completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        return [float(text == right) for text, right in zip(completions, answer, strict=True)]

    scalarizer = SmoothTchebycheff(0.1)
    reward = ScalarizedReward([one, other], scalarizer, HALF)
    values = torch.tensor([[0.25, 0.75], [0.5, 0.5], [0.75, 0.25]])
    assert reward(prompts=PROMPTS, completions=COMPLETIONS) == pytest.approx(scalarizer(values, HALF).tolist())
    assert reward.__name__ == "scalarized"
    asking = ScalarizedReward([one, asks], Linear(), torch.tensor([0.0, 1.0]))
    assert asking(PROMPTS, COMPLETIONS, answer=["a", "b", "ccc"]) == [1.0, 0.0, 1.0]


def test_normalizer_sees_the_batch_first() -> None:
    class Largest(torch.nn.Module):
        def update(self, values: torch.Tensor) -> None:
            self.largest = values.amax(0)

        def forward(self, values: torch.Tensor) -> torch.Tensor:
            return values / self.largest

    reward = ScalarizedReward([one, other], Linear(), HALF, normalizer=Largest())
    assert reward(PROMPTS, COMPLETIONS) == pytest.approx([2 / 3, 2 / 3, 2 / 3])


@pytest.mark.parametrize("hole", [None, math.nan])
def test_a_missing_reward_gives_none(hole: float | None) -> None:
    def holes(**kwargs: Any) -> list[float | None]:
        return [hole, 0.5, 0.5]

    reward = ScalarizedReward([one, holes], Linear(), HALF)
    assert reward(PROMPTS, COMPLETIONS) == [None, pytest.approx(0.5), pytest.approx(0.625)]
    assert ScalarizedReward([holes, lambda **_: [None] * 3], Linear(), HALF)(PROMPTS, COMPLETIONS) == [None] * 3


def test_scheduler_follows_the_training_and_metrics_are_logged() -> None:
    logged: dict[str, float] = {}
    scalarizer = AdaptiveSmoothTchebycheff(LinearDecay(1.0, 0.1))
    reward = ScalarizedReward([one, other], scalarizer, HALF)
    for step, mu in [(0, 1.0), (5, 0.55), (5, 0.55), (10, 0.1)]:
        state = SimpleNamespace(global_step=step, max_steps=10)
        reward(PROMPTS, COMPLETIONS, trainer_state=state, log_metric=logged.__setitem__)
        assert float(scalarizer.mu) == pytest.approx(mu)
    braked = AdaptiveSmoothTchebycheff(ConflictBraked(LinearDecay(1.0, 0.1), 10.0, smoothing=0.5))
    again, state = ScalarizedReward([one, other], braked, HALF), SimpleNamespace(global_step=0, max_steps=10)
    for _ in range(3):  # an evaluation before the step, say
        again(PROMPTS, COMPLETIONS, trainer_state=state)
    assert float(braked.mu) == pytest.approx(5.5)  # full conflict: half of the way from 1 to 10
    assert logged["scalarized/one/mean"] == pytest.approx(0.5)
    assert logged["scalarized/mu"] == pytest.approx(0.1)
    assert logged["scalarized/one/attention"] + logged["scalarized/other/attention"] == pytest.approx(1.0)


def test_bad_options_and_rewards() -> None:
    def short(**kwargs: Any) -> list[float]:
        return [0.0]

    both: list[Any] = [one, other]
    for functions in ([one], [one, "other"]):
        refused("`reward_funcs` must be two or more functions", ScalarizedReward, functions, Linear(), HALF)
    refused("`weights` must have 2 objectives", ScalarizedReward, both, Linear(), torch.tensor([0.2, 0.3, 0.5]))
    refused("`weights` must have shape", ScalarizedReward, both, Linear(), HALF.unsqueeze(0))
    refused("`scalarizer` must be a Scalarizer", ScalarizedReward, both, "stch", HALF)
    refused("`scalarizer` must be one to maximise", ScalarizedReward, both, Linear(sense="min"), HALF)
    bad = ScalarizedReward([one, short], Linear(), HALF)
    refused("`short` must return one reward per completion", bad, PROMPTS, COMPLETIONS)
    bad = ScalarizedReward([one, lambda **_: [math.inf] * 3], Linear(), HALF)
    refused("`rewards` must be finite", bad, PROMPTS, COMPLETIONS)
    bad = ScalarizedReward(both, Linear(), HALF, normalizer=lambda values: values[0])
    refused("`normalizer` must have shape", bad, PROMPTS, COMPLETIONS)
