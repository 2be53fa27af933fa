import pytest
import torch

from morl_recipes import Run
from morl_recipes.learning.batch import Batch
from morl_recipes.learning.diagnostics import find_failures
from morl_recipes.learning.targets import gae, targets_of
from tests.morl_recipes.worlds import tiny, trained


@pytest.fixture
def batch() -> Batch:
    """A run that hardly moves, and one that does."""
    return trained([Run(tiny(learning_rate=rate), (0.5, 0.5), 0) for rate in (1e-12, 1e-2)], 0)


def test_numbers_tell_a_still_policy_from_a_moving_one(batch: Batch) -> None:
    numbers = batch.iterate().metrics
    assert abs(float(numbers["kl"][0])) < 1e-6
    assert float(numbers["kl"][1]) > 1e-4
    assert float(numbers["clip_fraction"][0]) == 0.0
    torch.testing.assert_close(numbers["loss_objective"][0], torch.zeros(2), atol=1e-5, rtol=0)  # mean advantage
    torch.testing.assert_close(numbers["attention"].sum(-1), torch.ones(2))
    assert bool((numbers["explained_variance"] <= 1).all())
    assert numbers["loss_value"].shape == (2,)
    log_std = batch.learner.actor.layout.views(batch.actor.params)["log_std"]
    torch.testing.assert_close(numbers["entropy"], log_std.sum(-1) + 2.8379, atol=1e-3, rtol=0)


def test_the_first_cause_is_named(batch: Batch) -> None:
    rollout = batch.collector.collect(batch.actor.params, torch.zeros(2, 16, 4, 2), None)
    targets = targets_of(batch, rollout, gae(batch, rollout))
    record, params = torch.zeros(2, 4), (batch.actor.params.clone(),)
    statistics = (torch.zeros(2, 2), torch.tensor([[1.0, 1.0], [1.0, torch.inf]]))  # the square of 1e20, say
    assert find_failures(rollout, targets, record, params, ()) == {}
    assert find_failures(rollout, targets, record, params, statistics) == {1: "observation statistics"}
    params[0][1, 3] = torch.inf
    assert find_failures(rollout, targets, record, params, ()) == {1: "parameter"}
    record[1, 1] = torch.nan
    assert find_failures(rollout, targets, record, params, ()) == {1: "gradient"}
    rollout.reward[0, 0, 3] = torch.nan
    assert find_failures(rollout, targets, record, params, ()) == {0: "reward", 1: "gradient"}
    rollout.inputs[0, 0, 0, 0] = torch.nan  # what a reset gave
    assert find_failures(rollout, targets, record, params, ()) == {0: "observation", 1: "gradient"}
