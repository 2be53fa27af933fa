"""One style per method: colour, dash, symbol and hatch, readable in grey prints and by colour-blind readers."""

import itertools
from dataclasses import dataclass
from typing import Any

from morl_recipes.recipe.paper import REFERENCE

LIGHT_BACKGROUND, DARK_BACKGROUND = "#ffffff", "#161b22"

# Found by a search for nine colours that stay apart for normal, protan, deutan and tritan eyes (0.1 or more in OKLab)
# and have a contrast of 3 or more with their page; orange and blue are those of Okabe and Ito.
_LIGHT = ("#d55e00", "#0072b2", "#00563f", "#a53577", "#3f98ee", "#600219", "#19009a", "#a5808f", "#3a1e5f")
_DARK = ("#ff9d5c", "#58b0ec", "#1f9e78", "#e02b19", "#b7f3de", "#967403", "#6558de", "#e6e823", "#09e89c")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "x", "star", "pentagon")
_HATCHES = ("", "/", "\\", "x", "-", "|", "+", ".")

_PATTERNS = ((5, 2), (1.2, 1.8), (6, 2, 1.5, 2), (9, 3), (10, 2, 1.5, 2))
MATPLOTLIB_DASH: dict[str, Any] = dict(zip(_DASHES, ("-", *((0, dash) for dash in _PATTERNS)), strict=True))
MATPLOTLIB_MARKER = dict(zip(_SYMBOLS, "osD^PvX*p", strict=True))


@dataclass(frozen=True)
class Style:
    """The style of a method."""

    light: str
    dark: str
    dash: str
    symbol: str
    hatch: str


def styles(methods: tuple[str, ...]) -> list[Style]:
    """Return the style of every method; PASTA always has the same one."""
    others = itertools.count(1)
    numbers = [0 if method == REFERENCE else next(others) for method in methods]
    looks = (_LIGHT, _DARK, _DASHES, _SYMBOLS, _HATCHES)
    return [Style(*(look[k % len(look)] for look in looks)) for k in numbers]
