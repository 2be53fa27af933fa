"""What every scheduler shares: the extension point, the state, and bad input."""

import pytest
import torch
from torch import Tensor

from morl_blocks.schedulers import ConflictBraked, Fixed, LinearDecay, Scheduler, linear_decay
from tests.refusals import refused


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


def test_a_schedule_that_leaves_the_positive_numbers_is_named() -> None:
    refused("`Sinking.advance` must be > 0, got -0.5", Sinking(1.0).step, 1.0)


def test_a_missing_method_fails_at_construction_by_name() -> None:
    class Empty(Scheduler):
        pass

    with pytest.raises(TypeError, match="advance"):
        Empty(1.0)  # type: ignore[abstract]


def test_runs_are_never_broadcast_against_each_other() -> None:
    three, column = torch.full((3,), 10.0), torch.full((3, 1), 0.05)
    refused(r"`end` must be a number or have the shape of start, \[3\], got shape \[3, 1\]", LinearDecay, three, column)
    refused(r"`end` must be a number or have the shape of start, \[3\]", linear_decay, 0.5, three, column)
    refused(r"`conflict` must be a number or have the shape of mu, \[3\]", Fixed(three).step, 0.5, torch.zeros(2))
    refused("`threshold` must be a number or have the shape", ConflictBraked, maximum=three, threshold=torch.zeros(2))
    refused("`mu` must be > 0, got 0", Fixed, 1e-60)  # vanishes in float32
