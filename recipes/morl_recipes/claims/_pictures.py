"""One picture per table for a page that is read on a phone: our interval, the paper's mark."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from morl_recipes.panels import Panel
from morl_recipes.report._against import against
from morl_recipes.report._matplotlib import ALIKE, APART, INK, draw
from morl_recipes.report._style import styles

WIDTH = 4.4
"""Inches; at 200 dots each a phone shows the picture without shrinking its letters much."""
LONGEST = 24
LOOK: dict[Any, Any] = {"font.size": 10, "axes.edgecolor": "#8a94a0", "savefig.dpi": 200, "axes.titlesize": 10.5}


def can_draw(panel: Panel) -> bool:
    """Tell whether anything of a panel can be compared with PASTA."""
    return "gap" not in against(panel)


def has_printed(panel: Panel) -> bool:
    """Tell whether the picture of a panel has marks of the paper."""
    return any(trace["meta"]["role"] == "paper" for trace in against(panel).get("data", ()))


def draw_against(panel: Panel, title: str) -> Figure:
    """Draw how far each method is from PASTA.

    Args:
        panel: One group on one environment, of which something can be compared.
        title: Line above the picture.
    """
    found = against(panel)
    rows = sum(trace["meta"]["role"] == "interval" for trace in found["data"])
    with mpl.rc_context(LOOK):
        figure = Figure(figsize=(WIDTH, 1.9 + 0.33 * rows), layout="constrained")
        axes = figure.subplots()
        draw(axes, found, styles(panel.methods))
        axes.set_yticks(axes.get_yticks(), [_wrapped(label.get_text()) for label in axes.get_yticklabels()])
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))  # short labels, that do not touch
        axes.set_xlabel("HV minus PASTA's: left is worse", loc="right")
        axes.annotate("PASTA", (0, 1), xycoords=("data", "axes fraction"), ha="center", va="bottom", color=INK)
        figure.suptitle(title, fontsize=11)
        handles = _handles(printed=has_printed(panel))
        figure.legend(handles=handles, loc="outside lower center", frameon=False, fontsize=8.5, ncols=1)
    return figure


def _wrapped(label: str) -> str:
    r"""Break a long name behind its comma.

    Example:
        >>> _wrapped("Linear, vector advantages  -0.03"), _wrapped("Linear  -0.08")
        ('Linear,\nvector advantages  -0.03', 'Linear  -0.08')
    """
    return label.replace(", ", ",\n", 1) if len(label) > LONGEST else label


def _handles(*, printed: bool) -> list[Line2D]:
    look: dict[str, Any] = {"marker": "o", "markersize": 6, "linewidth": 2.2}
    ours = [
        Line2D([], [], color=APART, label="ours, 95 % interval: differs from PASTA", **look),
        Line2D([], [], color=ALIKE, markerfacecolor="white", label="ours: cannot be told apart from PASTA", **look),
    ]
    mark = Line2D([], [], color=INK, marker="D", linestyle="", markerfacecolor="none", label="the paper's difference")
    return [*ours, mark] if printed else ours


def save(figure: Figure, path: Path) -> None:
    """Write a picture without the date and version that would make it another file every time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(LOOK):
        figure.savefig(path, metadata={"Software": None})
