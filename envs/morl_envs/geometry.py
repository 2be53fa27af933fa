"""Exact plane geometry on batches: distances of rays, segments and shapes to circles, axis-parallel boxes and walls.

Coordinates come first and the batch last: a point is ``[2, *B]``, a circle ``[3, *B]`` = (x, y, radius), a box
``[4, *B]`` = (x, y, half_width, half_height), and the dimensions ``*B`` broadcast. With N environments as the last
dimension every operation runs over contiguous memory, and reductions over rays or obstacles are element-wise.

Only correctly rounded operations (+, -, *, /, sqrt, min, max) are used, so a result does not depend on its position in
the batch. Misses are encoded as huge distances by arithmetic, which is many times faster than ``torch.where``.
"""

import torch
from torch import Tensor

_TINY = 1e-9
_HUGE = 1e30


def _divisible(direction: Tensor) -> Tensor:
    """Move components away from zero (a ray parallel to an axis), keeping their sign."""
    return torch.copysign(direction.abs().clamp(min=_TINY), direction)


def ray_circle(origin: Tensor, direction: Tensor, circle: Tensor, absent: Tensor | None = None) -> Tensor:
    r"""Return the distance along a unit ray to a circle; 0 from inside, huge (> 1e12) on a miss.

    With :math:`q` the centre relative to the origin, :math:`a = d \cdot q` and :math:`c = d \times q`, the ray enters
    at :math:`a - \sqrt{r^2 - c^2}`. The cross product stays accurate where :math:`|q|^2 - a^2` would cancel.

    Args:
        origin: ``[2, *B]``.
        direction: Unit vectors, ``[2, *B]``.
        circle: ``[3, *B]``.
        absent: Circles to ignore, bool ``[*B]``.

    Returns:
        Distances, ``[*B]``.

    Example:
        >>> ray_circle(torch.tensor([0.0, 0.0]), torch.tensor([1.0, 0.0]), torch.tensor([3.0, 0.0, 1.0]))
        tensor(2.)
    """
    dx, dy = direction.unbind(0)
    qx, qy = circle[0] - origin[0], circle[1] - origin[1]
    squared = circle[2] * circle[2]
    if absent is not None:
        squared = squared - 1e6 * absent.to(squared.dtype)
    along = dx * qx + dy * qy
    across = dx * qy - dy * qx
    inside = squared - across * across
    half = inside.clamp(min=1e-14).sqrt()
    missed = torch.maximum(-inside, -(along + half)) * _HUGE
    return torch.maximum(along - half, missed).clamp(min=0)


def _slabs(origin: Tensor, direction: Tensor, box: Tensor) -> tuple[Tensor, Tensor]:
    """Return where a ray enters and leaves a box, in units of ``direction``; it misses when enter > leave."""
    safe = _divisible(direction)
    x, y = (box[0] - origin[0]) / safe[0], (box[1] - origin[1]) / safe[1]
    reach_x, reach_y = (box[2] / safe[0]).abs(), (box[3] / safe[1]).abs()
    return torch.maximum(x - reach_x, y - reach_y), torch.minimum(x + reach_x, y + reach_y)


def ray_box(origin: Tensor, direction: Tensor, box: Tensor) -> Tensor:
    """Return the distance along a unit ray to a box; 0 from inside, huge (> 1e12) on a miss.

    Args:
        origin: ``[2, *B]``.
        direction: Unit vectors, ``[2, *B]``.
        box: ``[4, *B]``.

    Returns:
        Distances, ``[*B]``.

    Example:
        >>> ray_box(torch.tensor([0.0, 0.0]), torch.tensor([0.0, 1.0]), torch.tensor([0.0, 2.0, 1.0, 0.5]))
        tensor(1.5000)
    """
    enter, leave = _slabs(origin, direction, box)
    missed = torch.maximum(enter - leave, -leave) * _HUGE
    return torch.maximum(enter, missed).clamp(min=0)


def ray_walls(origin: Tensor, direction: Tensor, half_size: tuple[float, float]) -> Tensor:
    """Return the distance along a unit ray from inside the arena ``[-half_size, half_size]`` to its wall, ``[*B]``.

    Example:
        >>> ray_walls(torch.tensor([0.5, 0.0]), torch.tensor([1.0, 0.0]), (1.0, 1.0))
        tensor(0.5000)
    """
    safe = _divisible(direction)
    x = (torch.copysign(torch.full_like(safe[0], half_size[0]), safe[0]) - origin[0]) / safe[0]
    y = (torch.copysign(torch.full_like(safe[1], half_size[1]), safe[1]) - origin[1]) / safe[1]
    return torch.minimum(x, y)


def segment_hits_circle(start: Tensor, end: Tensor, circle: Tensor) -> Tensor:
    """Return whether a segment comes closer to a circle's centre than its radius, bool ``[*B]``.

    Example:
        >>> segment_hits_circle(torch.tensor([-1.0, 0.5]), torch.tensor([1.0, 0.5]), torch.tensor([0.0, 0.0, 0.6]))
        tensor(True)
    """
    dx, dy = (end - start).unbind(0)
    qx, qy = circle[0] - start[0], circle[1] - start[1]
    length = (dx * dx + dy * dy).clamp(min=1e-12)
    fraction = ((dx * qx + dy * qy) / length).clamp(0, 1)
    px, py = qx - fraction * dx, qy - fraction * dy
    return px * px + py * py < circle[2] * circle[2]


def segment_hits_box(start: Tensor, end: Tensor, box: Tensor) -> Tensor:
    """Return whether a segment passes through the inside of a box, bool ``[*B]``.

    Example:
        >>> segment_hits_box(torch.tensor([-1.0, 0.5]), torch.tensor([1.0, 0.5]), torch.tensor([0.0, 0.0, 0.2, 0.6]))
        tensor(True)
    """
    enter, leave = _slabs(start, end - start, box)
    return enter.clamp(min=0) < leave.clamp(max=1)


def inflate(circles: Tensor, boxes: Tensor, margin: float) -> tuple[Tensor, Tensor]:
    """Return circles and boxes whose union is exactly the set of obstacles grown by ``margin``.

    A disc of radius ``margin`` touches an obstacle when its centre lies in the grown obstacle. A grown circle is a
    larger circle. A grown box is a rounded box: the widened box, the heightened box, and a disc on each of the four
    corners.

    Args:
        circles: ``[3, C, *B]``.
        boxes: ``[4, K, *B]``.
        margin: Radius of the moving disc.

    Returns:
        Circles ``[3, C + 4 K, *B]`` and boxes ``[4, 2 K, *B]``.

    Example:
        >>> circles, boxes = inflate(torch.zeros(3, 2), torch.ones(4, 1), margin=0.5)
        >>> circles.shape, boxes[2:].T
        (torch.Size([3, 6]), tensor([[1.5000, 1.0000],
                [1.0000, 1.5000]]))
    """
    x, y, width, height = boxes.unbind(0)
    left, right, low, high = x - width, x + width, y - height, y + height
    corners = torch.stack(
        [
            torch.cat([left, left, right, right]),
            torch.cat([low, high, low, high]),
            torch.full_like(torch.cat([x, x, x, x]), margin),
        ]
    )
    grown = torch.stack([circles[0], circles[1], circles[2] + margin])
    both = torch.stack(
        [torch.cat([x, x]), torch.cat([y, y]), torch.cat([width + margin, width]), torch.cat([height, height + margin])]
    )
    return torch.cat([grown, corners], 1), both


def rounded_gap(first: tuple[Tensor, Tensor, Tensor], second: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    """Return the gap between rounded boxes (negative when they overlap), ``[*B]``.

    A rounded box is (centre ``[2, *B]``, half-size ``[2, *B]``, radius ``[*B]``): a box grown by its radius. A circle
    has half-size 0, a sharp box has radius 0.

    Example:
        >>> circle = torch.zeros(2), torch.zeros(2), torch.tensor(1.0)
        >>> box = torch.tensor([3.0, 0.5]), torch.tensor([1.0, 1.0]), torch.tensor(0.0)
        >>> rounded_gap(circle, box)
        tensor(1.)
    """
    x, y = ((first[0] - second[0]).abs() - first[1] - second[1]).clamp(min=0).unbind(0)
    return (x * x + y * y).sqrt() - first[2] - second[2]
