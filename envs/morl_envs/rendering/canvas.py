"""A small drawing surface in the coordinates of an arena, with a panel for the legend on the right."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Colour = tuple[int, int, int] | tuple[int, int, int, int]
Point = tuple[float, float] | Sequence[float]

PLOT, PANEL, MARGIN = 480, 230, 16
# Everything is drawn at twice the size and scaled down, which gives smooth edges without a slow renderer.
_SCALE = 2
INK: Colour = (38, 44, 52)
FAINT: Colour = (110, 118, 128)


@lru_cache
def _font(size: int, face: str = "DejaVuSans") -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / f"{face}.ttf"), size * _SCALE)


class Canvas:
    """A picture of an arena of the given half-sizes.

    Args:
        half_width: Half the width of the arena.
        half_height: Half the height of the arena.
        background: Colour of the arena.

    Example:
        >>> Canvas(1.0, 1.0, (255, 255, 255)).array().shape
        (512, 758, 3)
    """

    def __init__(self, half_width: float, half_height: float, background: Colour) -> None:
        size = (PLOT + PANEL + 3 * MARGIN, PLOT + 2 * MARGIN)
        self.image = Image.new("RGB", (size[0] * _SCALE, size[1] * _SCALE), (250, 250, 248))
        self.draw = ImageDraw.Draw(self.image, "RGBA")
        self.pixels = _SCALE * PLOT / (2 * max(half_width, half_height))
        self._row = float(MARGIN)
        self.box((0, 0), (half_width, half_height), background, outline=INK)

    def at(self, point: Point) -> tuple[float, float]:
        """Return the pixel of a point in the arena."""
        middle = _SCALE * (MARGIN + PLOT / 2)
        return middle + self.pixels * float(point[0]), middle - self.pixels * float(point[1])

    def disc(
        self, centre: Point, radius: float, fill: Colour | None, outline: Colour | None = None, width: float = 1
    ) -> None:
        """Draw a disc or, without fill, a circle."""
        x, y = self.at(centre)
        r = max(radius * self.pixels, _SCALE)
        self.draw.ellipse((x - r, y - r, x + r, y + r), fill, outline, round(width * _SCALE))

    def box(self, centre: Point, half: Point, fill: Colour | None, outline: Colour | None = None) -> None:
        """Draw an axis-parallel box."""
        (left, low), (right, high) = (
            self.at((centre[0] - half[0], centre[1] - half[1])),
            self.at((centre[0] + half[0], centre[1] + half[1])),
        )
        self.draw.rectangle((left, high, right, low), fill, outline, _SCALE)

    def area(self, points: Sequence[Point], fill: Colour, outline: Colour | None = None) -> None:
        """Draw a polygon."""
        self.draw.polygon([self.at(point) for point in points], fill, outline)

    def path(self, points: Sequence[Point], colour: Colour, width: float = 1) -> None:
        """Draw a line through points."""
        if len(points) > 1:
            self.draw.line([self.at(point) for point in points], colour, round(width * _SCALE), joint="curve")

    def dashes(self, start: Point, end: Point, colour: Colour, width: float = 1, dash: float = 0.03) -> None:
        """Draw a dashed line."""
        first, last = np.asarray(start, float), np.asarray(end, float)
        count = max(2, round(float(np.linalg.norm(last - first)) / dash))
        stops = first + (last - first) * np.linspace(0, 1, count + 1)[:, None]
        for k in range(0, count, 2):
            self.path([stops[k].tolist(), stops[k + 1].tolist()], colour, width)

    def dashed_box(self, half: Point, colour: Colour) -> None:
        """Draw the dashed outline of a box around the origin."""
        x, y = half[0], half[1]
        corners = [(-x, -y), (x, -y), (x, y), (-x, y), (-x, -y)]
        for k in range(4):
            self.dashes(corners[k], corners[k + 1], colour, 1.2)

    def label(self, point: Point, text: str, colour: Colour = INK, size: int = 10) -> None:
        """Write text at a point in the arena."""
        self.draw.text(self.at(point), text, colour, _font(size), anchor="mm")

    def line(self, text: str, *, size: int = 11, bold: bool = False, colour: Colour = INK) -> None:
        """Write the next line of the panel."""
        left = _SCALE * (PLOT + 2 * MARGIN)
        self.draw.text(
            (left, _SCALE * self._row), text, colour, _font(size, "DejaVuSans-Bold" if bold else "DejaVuSans")
        )
        self._row += size + 7

    def entry(self, text: str, colour: Colour, kind: str = "disc") -> None:
        """Write the next entry of the legend, with a sample: ``"disc"``, ``"ring"``, ``"box"`` or ``"line"``."""
        left, middle = _SCALE * (PLOT + 2 * MARGIN), _SCALE * (self._row + 7)
        spot = (left, middle - 5 * _SCALE, left + 10 * _SCALE, middle + 5 * _SCALE)
        if kind == "line":
            self.draw.line((left, middle, left + 12 * _SCALE, middle), colour, 2 * _SCALE)
        elif kind == "box":
            self.draw.rectangle(spot, colour, INK)
        elif kind == "ring":
            self.draw.ellipse(spot, None, colour, 2 * _SCALE)
        else:
            self.draw.ellipse(spot, colour)
        self.draw.text((left + 20 * _SCALE, _SCALE * self._row), text, INK, _font(10))
        self._row += 18

    def space(self, height: float = 8) -> None:
        """Add vertical space to the panel."""
        self._row += height

    def array(self) -> NDArray[np.uint8]:
        """Return the picture as ``[height, width, 3]`` bytes."""
        width, height = self.image.size
        return np.asarray(self.image.resize((width // _SCALE, height // _SCALE), Image.Resampling.BOX)).copy()
