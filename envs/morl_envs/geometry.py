"""Exact plane geometry on batches: rays, segments and gaps against circles, axis-parallel boxes and walls.

A circle is ``(x, y, radius)``, a box is ``(x, y, half_width, half_height)``; the last dimension holds these numbers
and the leading dimensions broadcast. Only correctly rounded operations (+, -, *, /, sqrt, min, max) are used, so a
result does not depend on the position of an element in the batch.
"""

import torch
from torch import Tensor

_TINY = 1e-9


def _away_from_zero(value: Tensor) -> Tensor:
    """Replace components too small to divide by (a ray parallel to an axis) with a tiny number of the same sign."""
    return torch.where(value.abs() < _TINY, torch.where(value < 0, -_TINY, _TINY), value)


def ray_circle(origin: Tensor, direction: Tensor, circle: Tensor, active: Tensor | None = None) -> Tensor:
    r"""Return the distance along a unit ray to a circle; 0 from inside, inf on a miss.

    With :math:`q` the centre seen from the origin, :math:`a = d \cdot q` and :math:`c = d \times q`, the ray enters at
    :math:`a - \sqrt{r^2 - c^2}`. The cross product keeps its digits where :math:`|q|^2 - a^2` would cancel.

    Args:
        origin: ``[*B, 2]``.
        direction: Unit vectors, ``[*B, 2]``.
        circle: ``[*B, 3]``.
        active: Circles to see, bool ``[*B]``; all when ``None``.

    Returns:
        Distances, ``[*B]``.

    Example:
        >>> ray_circle(torch.tensor([0.0, 0.0]), torch.tensor([1.0, 0.0]), torch.tensor([3.0, 0.0, 1.0]))
        tensor(2.)
    """
    dx, dy = direction.unbind(-1)
    ox, oy = origin.unbind(-1)
    cx, cy, radius = circle.unbind(-1)
    squared = radius * radius
    if active is not None:
        squared = torch.where(active, squared, -1.0)
    qx, qy = cx - ox, cy - oy
    along = dx * qx + dy * qy
    across = dx * qy - dy * qx
    inside = squared - across * across
    half = inside.clamp(min=0).sqrt()
    hit = (inside >= 0) & (along + half >= 0)
    return torch.where(hit, (along - half).clamp(min=0), torch.inf)


def _slabs(origin: Tensor, direction: Tensor, box: Tensor) -> tuple[Tensor, Tensor]:
    """Return where a ray enters and leaves a box, in units of ``direction``; it misses when enter > leave."""
    safe = _away_from_zero(direction)
    to_centre = box[..., :2] - origin
    middle, reach = to_centre / safe, (box[..., 2:] / safe).abs()
    return (middle - reach).amax(-1), (middle + reach).amin(-1)


def ray_box(origin: Tensor, direction: Tensor, box: Tensor) -> Tensor:
    """Return the distance along a unit ray to a box; 0 from inside, inf on a miss.

    Args:
        origin: ``[*B, 2]``.
        direction: Unit vectors, ``[*B, 2]``.
        box: ``[*B, 4]``.

    Returns:
        Distances, ``[*B]``.

    Example:
        >>> ray_box(torch.tensor([0.0, 0.0]), torch.tensor([0.0, 1.0]), torch.tensor([0.0, 2.0, 1.0, 0.5]))
        tensor(1.5000)
    """
    enter, leave = _slabs(origin, direction, box)
    hit = (enter <= leave) & (leave >= 0)
    return torch.where(hit, enter.clamp(min=0), torch.inf)


def ray_walls(origin: Tensor, direction: Tensor, half_size: Tensor) -> Tensor:
    """Return the distance along a unit ray from inside the arena ``[-half_size, half_size]`` to its wall, ``[*B]``.

    Example:
        >>> ray_walls(torch.tensor([0.5, 0.0]), torch.tensor([1.0, 0.0]), torch.tensor([1.0, 1.0]))
        tensor(0.5000)
    """
    safe = _away_from_zero(direction)
    return ((half_size * safe.sign() - origin) / safe).amin(-1)


def segment_hits_circle(start: Tensor, end: Tensor, circle: Tensor) -> Tensor:
    """Tell whether a segment comes closer to a circle's centre than its radius, bool ``[*B]``.

    Example:
        >>> segment_hits_circle(torch.tensor([-1.0, 0.5]), torch.tensor([1.0, 0.5]), torch.tensor([0.0, 0.0, 0.6]))
        tensor(True)
    """
    sx, sy = start.unbind(-1)
    ex, ey = end.unbind(-1)
    cx, cy, radius = circle.unbind(-1)
    dx, dy = ex - sx, ey - sy
    qx, qy = cx - sx, cy - sy
    length = (dx * dx + dy * dy).clamp(min=1e-12)
    fraction = ((dx * qx + dy * qy) / length).clamp(0, 1)
    px, py = qx - fraction * dx, qy - fraction * dy
    return px * px + py * py < radius * radius


def segment_hits_box(start: Tensor, end: Tensor, box: Tensor) -> Tensor:
    """Tell whether a segment passes through the inside of a box, bool ``[*B]``.

    Example:
        >>> segment_hits_box(torch.tensor([-1.0, 0.5]), torch.tensor([1.0, 0.5]), torch.tensor([0.0, 0.0, 0.2, 0.6]))
        tensor(True)
    """
    enter, leave = _slabs(start, end - start, box)
    return torch.maximum(enter, torch.zeros_like(enter)) < torch.minimum(leave, torch.ones_like(leave))


def inflate(circles: Tensor, boxes: Tensor, margin: float) -> tuple[Tensor, Tensor]:
    """Return the circles and boxes whose union is every obstacle grown by ``margin``, exactly.

    A disc of radius ``margin`` touches an obstacle when its centre lies in the grown obstacle. A grown circle is a
    circle. A grown box is a rounded box: the box widened, the box heightened, and a disc on each of its four corners.

    Args:
        circles: ``[*B, C, 3]``.
        boxes: ``[*B, K, 4]``.
        margin: Radius of the moving disc.

    Returns:
        Circles ``[*B, C + 4 K, 3]`` and boxes ``[*B, 2 K, 4]``.
    """
    x, y, width, height = boxes.unbind(-1)
    radius = torch.full_like(x, margin)
    corners = [torch.stack([x + i * width, y + j * height, radius], -1) for i in (-1, 1) for j in (-1, 1)]
    grown = torch.cat([circles[..., :2], circles[..., 2:] + margin], -1)
    wide = torch.stack([x, y, width + margin, height], -1)
    high = torch.stack([x, y, width, height + margin], -1)
    return torch.cat([grown, *corners], -2), torch.cat([wide, high], -2)


def rounded_gap(centre: Tensor, half: Tensor, radius: Tensor, others: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    """Return the gap between rounded boxes (negative when the rounded parts overlap), ``[*B]``.

    A rounded box is a box of half-size ``half`` grown by ``radius``: a circle has ``half = 0``, a box ``radius = 0``.

    Example:
        >>> circle = torch.zeros(2), torch.zeros(2), torch.tensor(1.0)
        >>> box = torch.tensor([3.0, 0.5]), torch.tensor([1.0, 1.0]), torch.tensor(0.0)
        >>> rounded_gap(*circle, box)
        tensor(1.)
    """
    apart = ((centre - others[0]).abs() - half - others[1]).clamp(min=0)
    x, y = apart.unbind(-1)
    return (x * x + y * y).sqrt() - radius - others[2]
