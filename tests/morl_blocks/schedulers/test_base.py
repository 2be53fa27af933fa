from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from morl_blocks.schedulers import ConflictBraked, Fixed, LinearDecay, Scheduler, SelfTuned, linear_decay
from tests.refusals import refused

START, RATE, THRESHOLD = torch.tensor([10.0, 1.0, 5.0]), torch.tensor([0.05, 0.2, 0.5]), torch.tensor([0.2, 0.4, 0.8])
CONFLICTS = torch.rand(20, 3, generator=torch.Generator().manual_seed(0))
GAPS = torch.rand(20, 3, 16, 2, generator=torch.Generator().manual_seed(0)) * START.reshape(3, 1, 1)
MAKERS: dict[str, Callable[[Any], Scheduler]] = {  # of the runs that are asked for
    "Fixed": lambda runs: Fixed(START[runs]),
    "LinearDecay": lambda runs: LinearDecay(START[runs], 0.5, smoothing=0.3),
    "ConflictBraked": lambda runs: ConflictBraked(threshold=THRESHOLD[runs], smoothing=RATE[runs]),
    "ConflictBraked of an average": lambda runs: ConflictBraked(LinearDecay(10.0, 0.05, smoothing=0.5)),
    "SelfTuned": lambda runs: SelfTuned(),
}
every = pytest.mark.parametrize("name", MAKERS)


class Halving(Scheduler):
    """A user's scheduler: the one method."""

    def advance(self, progress: Tensor, conflict: Tensor) -> Tensor:
        return self.mu / 2


class Bounded(Halving):
    """One that can be braked."""

    @property
    def highest(self) -> Tensor:
        return torch.tensor(8.0)


class Sinking(Scheduler):
    """One that leaves the positive numbers."""

    def advance(self, progress: Tensor, conflict: Tensor) -> Tensor:
        return 0.5 - progress


@every
def test_a_vector_of_runs_equals_each_run_alone_and_a_returned_mu_stays(name: str) -> None:
    together, alone = MAKERS[name](slice(None)), [MAKERS[name](run) for run in range(3)]
    before = copy = torch.zeros(())
    for i, (conflict, gaps) in enumerate(zip(CONFLICTS, GAPS, strict=True)):
        mu = together.step(i / 20, conflict, gaps)
        torch.testing.assert_close(before, copy)
        before, copy = mu, mu.clone()
        expected = [one.step(i / 20, *own) for one, *own in zip(alone, conflict, gaps, strict=True)]
        torch.testing.assert_close(mu, torch.stack(expected))


@every
def test_state_survives(name: str) -> None:
    schedule, fresh = MAKERS[name](slice(None)), MAKERS[name](slice(None))
    for i in range(5):
        schedule.step(i / 10, CONFLICTS[i], GAPS[i])
    fresh.load_state_dict(schedule.state_dict())
    assert fresh.mu.shape == (3,)
    torch.testing.assert_close(fresh.mu, schedule.mu, rtol=0, atol=0)
    torch.testing.assert_close(fresh.step(0.7, 0.8), schedule.step(0.7, 0.8), rtol=0, atol=0)


def test_one_method_makes_a_scheduler() -> None:
    schedule = Halving(torch.tensor([8.0, 2.0]))
    torch.testing.assert_close(schedule.step(0.0), torch.tensor([4.0, 1.0]))
    fresh = Halving(1.0)
    fresh.load_state_dict(schedule.state_dict())
    torch.testing.assert_close(fresh.step(0.5), torch.tensor([2.0, 0.5]))


def test_to_be_braked_it_says_its_highest_value() -> None:
    refused("`base` must define its `highest` value .* got Halving", ConflictBraked, base=Halving(8.0))
    braked = ConflictBraked(base=Bounded(8.0), smoothing=1.0)
    assert braked.step(0.0) == 4.0
    assert braked.step(0.0, conflict=1.0) == 10.0


def test_errors_name_the_schedule_and_the_missing_method() -> None:
    class Empty(Scheduler):
        pass

    refused("`Sinking.advance` must be > 0, got -0.5", Sinking(1.0).step, 1.0)
    with pytest.raises(TypeError, match="advance"):
        Empty(1.0)  # type: ignore[abstract]


def test_runs_are_never_broadcast_against_each_other() -> None:
    three, column = torch.full((3,), 10.0), torch.full((3, 1), 0.05)
    refused(r"`end` must be a number or have the shape of start, \[3\], got shape \[3, 1\]", LinearDecay, three, column)
    refused(r"`end` must be a number or have the shape of start, \[3\]", linear_decay, 0.5, three, column)
    refused(r"`conflict` must be a number or have the shape of mu, \[3\]", Fixed(three).step, 0.5, torch.zeros(2))
    refused("`threshold` must be a number or have the shape", ConflictBraked, maximum=three, threshold=torch.zeros(2))
    refused("`gaps` must be a number or have the shape", SelfTuned().step, 0.0, torch.zeros(2), GAPS[0])


def test_fixed_stays_where_it_is() -> None:
    schedule = Fixed(0.5)
    assert [float(schedule.step(progress, 1.0)) for progress in (0.0, 0.5, 1.0)] == [0.5] * 3
    for mu in (0.0, -1.0, float("nan"), 1e-60):  # the last vanishes in float32
        refused("`mu` must be > 0, got", Fixed, mu)
