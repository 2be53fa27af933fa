from typing import Any

import numpy as np
import pytest
from hypothesis import given

from morl_blocks.metrics import additive_epsilon, igd, igd_plus
from morl_blocks.metrics.arrays import Array
from tests.morl_blocks.metrics.fronts import pairs
from tests.refusals import refused

pytestmark = pytest.mark.needs("moocore")


@given(pairs)
def test_plain_loops_agree(sets: tuple[Array, Array]) -> None:
    points, known = sets
    away = known[:, None] - points  # what each known point has over each point found
    missing = np.maximum(away, 0)
    assert igd(points, known) == pytest.approx(np.linalg.norm(away, axis=-1).min(1).mean())
    assert igd_plus(points, known) == pytest.approx(np.linalg.norm(missing, axis=-1).min(1).mean())
    assert additive_epsilon(points, known) == pytest.approx(away.max(-1).min(1).max())


def test_points_that_beat_the_known_front() -> None:
    """IGD blames them as much as points that are beaten; IGD+ and epsilon do not."""
    for sense, plus, epsilon in (("max", 0.0, -1.0), ("min", np.sqrt(2), 1.0)):
        sets: Any = [[2.0, 2.0]], [[1.0, 1.0]], sense
        found = igd(*sets), igd_plus(*sets), additive_epsilon(*sets)
        assert found == pytest.approx((np.sqrt(2), plus, epsilon))


def test_bad_input_is_named() -> None:
    for metric in (igd, igd_plus, additive_epsilon):
        refused("`known` must be finite, got nan", metric, [[1.0, 1.0]], [[1.0, np.nan], [0.0, 0.0]])
        refused(r"`known` must have 2 objectives .*, got shape \[1, 3\]", metric, [[1.0, 1.0]], [[1.0, 1.0, 1.0]])
        refused("`points` must hold at least one point", metric, np.zeros((0, 2)), [[1.0, 1.0]])
