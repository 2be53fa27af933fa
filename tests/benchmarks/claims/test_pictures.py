"""The pictures of "Does it hold?", looked at by the sizes of what is drawn."""

import numpy as np
import pytest

from benchmarks.claims.overview import deciding
from benchmarks.claims.page import sections_of
from benchmarks.claims.pictures import FARTHEST, draw_claims
from morl_recipes.recipe.paper import REFERENCE
from tests.benchmarks.claims.made_up import made_up, noisy


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
