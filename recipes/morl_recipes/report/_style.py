"""One look per method: colour for the screen, dash, symbol and hatch for grey paper and colour-blind eyes."""

from dataclasses import dataclass
from typing import Any

from morl_recipes.paper import REFERENCE

LIGHT_BACKGROUND, DARK_BACKGROUND = "#ffffff", "#161b22"

# The Okabe-Ito hues, darkened for a white page and lightened for a dark one, so that each has a contrast of 3 or more.
_LIGHT = ("#c44601", "#0072b2", "#00805d", "#a8487e", "#2f86b8", "#9a6700", "#6a4fb3", "#5c6670", "#7b6a12")
_DARK = ("#ff9d5c", "#58b0ec", "#35cfa2", "#ef9ccb", "#a5dcff", "#f2b632", "#b9a3ff", "#b4bcc6", "#d9cb6b")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "x", "star", "pentagon")
_HATCHES = ("", "/", "\\", "x", "-", "|", "+", ".")

MATPLOTLIB_DASH: dict[str, Any] = {
    "solid": "-",
    "dash": (0, (5, 2)),
    "dot": (0, (1.2, 1.8)),
    "dashdot": (0, (6, 2, 1.5, 2)),
    "longdash": (0, (9, 3)),
    "longdashdot": (0, (10, 2, 1.5, 2)),
}
MATPLOTLIB_MARKER = dict(zip(_SYMBOLS, "osD^PvX*p", strict=True))


@dataclass(frozen=True)
class Style:
    """How a method is drawn."""

    light: str
    dark: str
    dash: str
    symbol: str
    hatch: str


def styles(methods: tuple[str, ...]) -> list[Style]:
    """Give every method its look; PASTA always has the same one.

    Example:
        >>> [style.dash for style in styles(("z=1.0", "PASTA (Ours)"))]
        ['dash', 'solid']
    """
    numbers, following = [], 1
    for method in methods:
        numbers.append(0 if method == REFERENCE else following)
        following += method != REFERENCE
    return [
        Style(
            _LIGHT[k % len(_LIGHT)],
            _DARK[k % len(_DARK)],
            _DASHES[k % len(_DASHES)],
            _SYMBOLS[k % len(_SYMBOLS)],
            _HATCHES[k % len(_HATCHES)],
        )
        for k in numbers
    ]
