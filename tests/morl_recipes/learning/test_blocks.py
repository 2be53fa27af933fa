import pytest
import torch

from morl_blocks.combiners import WeightedPCGrad
from morl_recipes import PASTA, ROWS, specs
from morl_recipes.learning.blocks import PerRunCombiner, PerRunScheduler, live_combiner, live_scalarizer
from morl_recipes.spec import Live
from morl_recipes.streams import Streams


def test_built_in_blocks_are_made_once_for_all_runs() -> None:
    scalarizer, scheduler = live_scalarizer([PASTA, PASTA, PASTA])
    assert scheduler is not None
    assert not isinstance(scheduler, PerRunScheduler)
    assert torch.as_tensor(scheduler.mu).shape == (3,)
    values, weights = torch.rand(3, 5, 2), torch.full((3, 1, 2), 0.5)
    assert scalarizer(values, weights).shape == (3, 5)


@pytest.mark.parametrize("name", ["Linear", "Tchebycheff"])
def test_scalarizers_without_smoothness_have_no_scheduler(name: str) -> None:
    _, scheduler = live_scalarizer([ROWS["baselines"][name]] * 2)
    assert scheduler is None


def test_a_smooth_scalarizer_needs_a_scheduler() -> None:
    with pytest.raises(ValueError, match="`mu` must be a scheduler for a smooth scalarizer, got None"):
        specs.AdaptiveSmoothTchebycheff().build(None)


def test_looped_combiners_see_their_own_run() -> None:
    gramian = torch.randn(2, 3, 8)
    gramian = gramian @ gramian.mT
    attention, order = torch.rand(2, 3).softmax(-1), torch.zeros(2, 3, 3, dtype=torch.int64)
    combiner = PerRunCombiner([WeightedPCGrad(), WeightedPCGrad()], Streams([1, 2], "combiner").generators)
    weights = combiner(gramian, attention, order)
    for run, generator in enumerate(Streams([1, 2], "combiner").generators):
        expected = WeightedPCGrad().weights(gramian[run], attention[run], generator)
        torch.testing.assert_close(weights[run], expected)


def test_a_gramian_that_is_not_finite_fails_alone() -> None:
    combiner = PerRunCombiner([WeightedPCGrad(), WeightedPCGrad()], Streams([1, 2], "combiner").generators)
    gramian = torch.stack([torch.eye(2), torch.full((2, 2), torch.nan)])
    weights = combiner(gramian, torch.full((2, 2), 0.5), torch.zeros(2, 2, 2, dtype=torch.int64))
    assert weights[0].tolist() == [1.0, 1.0]
    assert weights[1].isnan().all()


def test_torchjd_names_are_checked() -> None:
    with pytest.raises(ValueError, match=r"`weighting` must name a class of torchjd\.aggregation, got 'Nothing'"):
        specs.TorchJD("Nothing").build()


def test_specs_of_combiners_have_a_vectorised_form_and_live_ones_do_not() -> None:
    generators = Streams([0], "combiner").generators
    assert not isinstance(live_combiner([PASTA], generators), PerRunCombiner)
    from dataclasses import replace

    live = replace(PASTA, combiner=Live(WeightedPCGrad()))
    assert isinstance(live_combiner([live], generators), PerRunCombiner)
