import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from morl_envs import geometry

t = torch.tensor
coordinate = st.floats(-1, 1, width=32)
point = st.tuples(coordinate, coordinate).map(t)
size = st.floats(0.0625, 0.5, width=32)


def test_rays_from_inside_along_an_edge_and_past_what_is_absent() -> None:
    origin, east, box = t([0.0, 0.0]), t([1.0, 0.0]), t([2.0, 0.0, 1.0, 0.5])
    assert geometry.ray_circle(origin, east, t([0.1, 0.0, 0.5])) == 0
    assert geometry.ray_box(origin, east, t([0.1, 0.0, 0.5, 0.5])) == 0
    assert geometry.ray_circle(origin, east, t([2.0, 0.0, 0.5]), t(False)) == 1.5
    assert geometry.ray_circle(origin, east, t([2.0, 0.0, 0.5]), t(True)) > 1e12
    assert geometry.ray_box(t([1.0, 2.0]), t([0.0, -1.0]), box) == 1.5
    assert geometry.ray_box(t([3.5, 0.0]), east, box) > 1e12  # behind


def sample(start: Tensor, end: Tensor) -> Tensor:
    """Return 20,001 points of a segment, ``[2, 20001]``."""
    return start[:, None] + (end - start)[:, None] * torch.linspace(0, 1, 20_001, dtype=start.dtype)


@given(point, point, point, size, size)
def test_segments_against_sampling(start: Tensor, end: Tensor, centre: Tensor, width: float, height: float) -> None:
    offset = sample(start.double(), end.double()) - centre[:, None]
    closest = float(offset.norm(dim=0).min()) - width
    if abs(closest) > 2e-4:
        assert bool(geometry.segment_hits_circle(start, end, t([*centre, width]))) == (closest < 0)
    depth = float((offset.abs() - t([width, height])[:, None]).amax(0).min())  # negative when some point is inside
    if abs(depth) > 2e-4:
        assert bool(geometry.segment_hits_box(start, end, t([*centre, width, height]))) == (depth < 0)


@given(coordinate, coordinate, size, size, st.floats(0.03125, 0.25, width=32), point)
def test_inflated_box_is_the_rounded_box(
    x: float, y: float, width: float, height: float, margin: float, point: Tensor
) -> None:
    circles, boxes = geometry.inflate(t([[x + 5], [y], [width]]), t([[x], [y], [width], [height]]), margin)
    in_circle = (point[:, None] - circles[:2]).norm(dim=0) < circles[2]
    in_box = ((point[:, None] - boxes[:2]).abs() < boxes[2:]).all(0)
    distance = ((point - t([x, y])).abs() - t([width, height])).clamp(min=0).norm()
    if abs(float(distance) - margin) > 1e-5:
        assert bool(in_circle[1:].any() | in_box.any()) == bool(distance < margin)
    assert circles[2, 0] == pytest.approx(width + margin)


def test_rounded_gap() -> None:
    circle = t([0.0, 0.0]), t([0.0, 0.0]), t(0.3)
    corner_on = t([1.0, 1.0]), t([0.2, 0.2]), t(0.0)
    assert float(geometry.rounded_gap(circle, corner_on)) == pytest.approx(0.8 * math.sqrt(2) - 0.3)
    assert float(geometry.rounded_gap(corner_on, circle)) == pytest.approx(0.8 * math.sqrt(2) - 0.3)
    face_on = t([1.0, 0.1]), t([0.2, 0.2]), t(0.0)
    assert float(geometry.rounded_gap(circle, face_on)) == pytest.approx(0.5)
    assert float(geometry.rounded_gap(circle, circle)) < 0
