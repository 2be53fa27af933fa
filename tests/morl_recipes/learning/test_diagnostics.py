import torch

from morl_recipes import Run
from morl_recipes.learning.batch import Batch
from morl_recipes.learning.diagnostics import diagnose, find_failures
from morl_recipes.learning.rollout import Rollout
from morl_recipes.learning.targets import Targets, gae, targets_of
from tests.morl_recipes.worlds import tiny, trained


def _iteration() -> tuple[Batch, dict[str, torch.Tensor]]:
    runs = [Run(tiny(learning_rate=rate), (0.5, 0.5), 0) for rate in (1e-12, 1e-2)]
    batch = trained(runs, 0)
    return batch, batch.iterate().metrics


def test_numbers_tell_a_still_policy_from_a_moving_one() -> None:
    _, numbers = _iteration()
    assert abs(float(numbers["kl"][0])) < 1e-6
    assert float(numbers["kl"][1]) > 1e-4
    assert float(numbers["clip_fraction"][0]) == 0.0
    torch.testing.assert_close(numbers["loss_objective"][0], torch.zeros(2), atol=1e-5, rtol=0)  # mean advantage
    torch.testing.assert_close(numbers["attention"].sum(-1), torch.ones(2))
    assert bool((numbers["explained_variance"] <= 1).all())
    assert numbers["loss_value"].shape == (2,)


def _collected() -> tuple[Batch, Rollout, Targets]:
    batch, _ = _iteration()
    rollout = batch.collector.collect(batch.actor.params, torch.randn(2, 16, 4, 2), None)
    return batch, rollout, targets_of(batch, rollout, gae(batch, rollout))


def test_an_unchanged_actor_shows_no_change() -> None:
    batch, rollout, targets = _collected()
    data = batch.samples(rollout, targets)
    learner = batch.learner
    numbers = diagnose(learner.actor, batch.actor.params, learner.loss, data, targets, batch.hyper["clip"])
    torch.testing.assert_close(numbers["kl"], torch.zeros(2), atol=1e-6, rtol=0)
    expected = [batch.learner.actor.layout.views(batch.actor.params)["log_std"][run].sum() + 2.8379 for run in (0, 1)]
    torch.testing.assert_close(numbers["entropy"], torch.stack(expected), atol=1e-3, rtol=0)


def test_the_first_cause_is_named() -> None:
    batch, rollout, targets = _collected()
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
