import pytest
import torch
from torch import Generator

from morl_blocks.metrics import even_weights
from morl_blocks.preferences import Grid, even_preferences
from tests.refusals import refused


@pytest.mark.parametrize(("count", "m"), [(15, 3), (40, 3), (5, 5)])
def test_they_are_the_weights_of_the_metrics(count: int, m: int) -> None:
    points = even_preferences(count, m)
    assert points.dtype is torch.float32
    torch.testing.assert_close(points, torch.from_numpy(even_weights(m, count)).float())


@pytest.mark.usefixtures("double_default")
def test_writing_into_them_changes_nothing_for_the_next_caller() -> None:
    even_preferences(3, 2).zero_()
    torch.testing.assert_close(even_preferences(3, 2)[:, 0], torch.linspace(0, 1, 3))


def test_the_sampler_draws_every_point_alike() -> None:
    drawn = Grid(5)(10_000, 3, Generator().manual_seed(0))
    points, counts = drawn.unique(dim=0, return_counts=True)
    torch.testing.assert_close(points, even_preferences(5, 3))
    assert int(counts.min()) > 1800


def test_sizes_are_checked() -> None:
    refused("`count` must be >= num_objectives = 3, .* got 2", even_preferences, 2, 3)
    refused("`num_objectives` must be a whole number >= 2, got 1", even_preferences, 5, 1)
    refused("`n` must be a whole number >= 2, got 1", Grid, 1)
