"""The pictures of "Does it hold?", looked at by the sizes of what is drawn."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from benchmarks.claims.overview import deciding
from benchmarks.claims.page import sections_of
from benchmarks.claims.pictures import COLOURS, FARTHEST, draw_against, draw_claims
from morl_blocks.metrics import Interval
from morl_recipes.analysis.results.load import load_results
from morl_recipes.recipe.paper import REFERENCE
from tests.benchmarks.claims.made_up import made_up, noisy


@pytest.mark.parametrize("noise", [0.002, 0.004, 0.005, 0.02])
def test_labels_of_the_axis_do_not_touch(noise: float) -> None:
    data = made_up(noisy({REFERENCE: 0.52}, noise=noise), rows=["PASTA", "readings"])  # long names, a narrow axis
    study = next(study for study in load_results(data).studies if study.group == "readings")
    figure = draw_against(study, "a title")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    axes = figure.axes[0]
    low, high = axes.get_xlim()
    labels = [label for label in axes.get_xticklabels() if low <= label.get_position()[0] <= high]
    boxes = [label.get_window_extent(canvas.get_renderer()) for label in labels]
    assert len(boxes) > 1
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_all_claims_are_drawn_with_arrows_beyond_the_axis() -> None:
    behind = noisy(
        {REFERENCE: 0.62, "Linear": 0.6, "Shared Weighted": 0.97, "Shared Unweighted": 0.99, "No Decay": 0.3}
    )
    judged = list(deciding(sections_of([made_up(behind)])).values())
    axes = draw_claims(judged).axes[0]
    assert [label.get_text().replace("\n", " ") for label in axes.get_yticklabels()] == [
        one.finding.claim.text for one in judged
    ]
    left, right = axes.get_xlim()
    assert -FARTHEST <= left < 0 < right == FARTHEST
    arrows = [np.asarray(line.get_ydata())[0] for line in axes.lines if line.get_marker() == ">"]
    assert arrows == [place for place, one in enumerate(judged) if one.lead.share.high > FARTHEST]
    assert arrows
    marks = [line for line in axes.lines if line.get_marker() == "D"]
    assert [np.asarray(mark.get_xdata())[0] for mark in marks] == pytest.approx([one.printed_share for one in judged])


def test_lead_below_0_only_without_correction_is_half_filled() -> None:
    (section,) = sections_of([made_up(noisy({REFERENCE: 0.5, "Linear": 0.503}), rows=["baselines"])])
    (one,) = deciding([section]).values()
    lead = replace(one.lead, ours=Interval(-0.01, -0.02, -0.001), verdict="cannot be told apart")
    alone = replace(one, finding=replace(one.finding, leads=(lead,)))
    grey = replace(one, finding=replace(one.finding, leads=(replace(lead, ours=Interval(-0.01, -0.02, 0.001)),)))
    assert (alone.only_alone, grey.only_alone) == (True, False)
    marks = [line for line in draw_claims([alone, grey]).axes[0].lines if line.get_marker() == "o"]
    assert [mark.get_color() for mark in marks] == [COLOURS["reversed"], COLOURS["cannot be told apart"]]
    assert {mark.get_markerfacecolor() for mark in marks} == {"white"}
