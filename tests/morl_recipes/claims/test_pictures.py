"""The pictures of "Does it hold?", looked at by the sizes of what is drawn."""

from itertools import pairwise

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from morl_recipes.claims._pictures import draw_against
from morl_recipes.panels import load_results
from morl_recipes.paper import REFERENCE
from tests.morl_recipes.claims.made_up import made_up, noisy


@pytest.mark.parametrize("noise", [0.002, 0.004, 0.005, 0.02])
def test_labels_of_the_axis_do_not_touch(noise: float) -> None:
    data = made_up(noisy({REFERENCE: 0.52}, noise=noise), rows=["PASTA", "readings"])  # long names, a narrow axis
    panel = next(panel for panel in load_results(data).panels if panel.group == "readings")
    figure = draw_against(panel, "a title")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    axes = figure.axes[0]
    low, high = axes.get_xlim()
    labels = [label for label in axes.get_xticklabels() if low <= label.get_position()[0] <= high]
    boxes = [label.get_window_extent(canvas.get_renderer()) for label in labels]
    assert len(boxes) > 1
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
