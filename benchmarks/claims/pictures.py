"""One picture per table, and one of all claims, for a page that is read on a phone: our interval, the paper's mark."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, PercentFormatter

from benchmarks.claims.judge import Verdict
from benchmarks.claims.overview import Judged
from morl_recipes.analysis.report.against import against
from morl_recipes.analysis.report.matplotlib import ALIKE, APART, INK, draw
from morl_recipes.analysis.report.style import styles
from morl_recipes.analysis.results.study import Study

WIDTH = 4.4
"""Inches; at 200 dots each a phone shows the picture without shrinking its letters much."""
LONGEST = 24
FARTHEST = 1.1
"""A lead of more, as a share of the row behind, ends at the edge of the picture with an arrow."""
LOOK: dict[Any, Any] = {"font.size": 10, "axes.edgecolor": "#8a94a0", "savefig.dpi": 200, "axes.titlesize": 10.5}

COLOURS: dict[Verdict, str] = {"holds": APART, "weaker": APART, "cannot be told apart": ALIKE, "reversed": "#d55e00"}


def can_draw(study: Study) -> bool:
    """Tell whether anything of a study can be compared with PASTA."""
    return "gap" not in against(study)


def has_printed(study: Study) -> bool:
    """Tell whether the picture of a study has marks of the paper."""
    return any(trace["meta"]["role"] == "paper" for trace in against(study).get("data", ()))


def draw_against(study: Study, title: str) -> Figure:
    """Draw how far each method is from PASTA.

    Args:
        study: One group on one environment, of which something can be compared.
        title: Line above the picture.
    """
    found = against(study)
    rows = sum(trace["meta"]["role"] == "interval" for trace in found["data"])
    with mpl.rc_context(LOOK):
        figure = Figure(figsize=(WIDTH, 1.9 + 0.33 * rows), layout="constrained")
        axes = figure.subplots()
        draw(axes, found, styles(study.methods))
        axes.set_yticks(axes.get_yticks(), [_wrapped(label.get_text()) for label in axes.get_yticklabels()])
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))  # short labels, that do not touch
        axes.set_xlabel("HV minus PASTA's: left is worse", loc="right")
        axes.annotate("PASTA", (0, 1), xycoords=("data", "axes fraction"), ha="center", va="bottom", color=INK)
        figure.suptitle(title, fontsize=11)
        handles = _handles(printed=has_printed(study))
        figure.legend(handles=handles, loc="outside lower center", frameon=False, fontsize=8.5, ncols=1)
    return figure


def draw_claims(judged: Sequence[Judged]) -> Figure:
    """Draw every claim's lead in per cent of the row behind: ours with its interval, and the paper's.

    Args:
        judged: The claims, from top to bottom.
    """
    with mpl.rc_context(LOOK):
        figure = Figure(figsize=(WIDTH, 1.7 + 0.37 * len(judged)), layout="constrained")
        axes = figure.subplots()
        shares = [x for one in judged for x in (*one.lead.share, one.printed_share) if np.isfinite(x)]
        edges = max(-FARTHEST, min(shares) - 0.05), min(FARTHEST, max(shares) + 0.05)
        for place, one in enumerate(judged):
            _claim(axes, place, one, edges)
        texts = [textwrap.fill(one.finding.claim.text, LONGEST + 2, break_on_hyphens=False) for one in judged]
        axes.set_yticks(range(len(judged)), texts, fontsize=8)
        axes.set_ylim(len(judged) - 0.4, -0.6)
        axes.set_xlim(*edges)
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
        axes.set_xlabel("lead: right of 0, the claim is right", loc="right")
        axes.axvline(0, color=INK, linewidth=1)
        axes.grid(color="#e3e7eb", linewidth=0.7)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        figure.suptitle("The paper's claims, by hypervolume", fontsize=11)
        figure.legend(handles=_claim_handles(judged), loc="outside lower center", frameon=False, fontsize=8.5, ncols=1)
    return figure


def _claim(axes: Axes, place: int, one: Judged, edges: tuple[float, float]) -> None:
    """Draw one line; what lies beyond the picture is an arrow at its edge."""
    share, (colour, face) = one.lead.share, _colours(one)
    low, middle, high, mark = np.clip([share.low, share.estimate, share.high, one.printed_share], *edges)
    axes.plot([low, high], [place, place], color=colour, linewidth=2.2, zorder=3)
    axes.plot(middle, place, "o", color=colour, markerfacecolor=face, markersize=6, zorder=4)
    for beyond, edge, arrow in ((share.low < edges[0], edges[0], "<"), (share.high > edges[1], edges[1], ">")):
        if beyond:
            axes.plot(edge, place, arrow, color=colour, markersize=6, clip_on=False, zorder=4)
    kind = ">" if one.printed_share > edges[1] else "<" if one.printed_share < edges[0] else "D"
    axes.plot(mark, place, kind, markerfacecolor="none", color=INK, markersize=5.5, clip_on=kind == "D", zorder=5)


def _colours(one: Judged) -> tuple[str, str]:
    """Return the colours of the line and of the mark's inside, which is white where nothing is decided."""
    colour = COLOURS["reversed" if one.only_alone else one.finding.verdict]
    return colour, "white" if one.finding.verdict == "cannot be told apart" else colour


def _claim_handles(judged: Sequence[Judged]) -> list[Line2D]:
    told, alike, behind = COLOURS["holds"], COLOURS["cannot be told apart"], COLOURS["reversed"]
    handles = [
        _handle(told, told, "our lead: holds, or weaker than printed"),
        _handle(alike, "white", "our lead: cannot be told apart"),
        _handle(behind, behind, "our lead: reversed"),
    ]
    if any(one.only_alone for one in judged):
        handles.append(_handle(behind, "white", "below 0, but not when widened for several rows"))
    return [*handles, _mark("the paper's lead, where it prints one on this scale")]


def _handle(colour: str, face: str, label: str) -> Line2D:
    return Line2D([], [], color=colour, markerfacecolor=face, marker="o", markersize=6, linewidth=2.2, label=label)


def _mark(label: str) -> Line2D:
    return Line2D([], [], color=INK, marker="D", linestyle="", markerfacecolor="none", label=label)


def _wrapped(label: str) -> str:
    r"""Break a long name behind its comma.

    Example:
        >>> _wrapped("Linear, vector advantages  -0.03"), _wrapped("Linear  -0.08")
        ('Linear,\nvector advantages  -0.03', 'Linear  -0.08')
    """
    return label.replace(", ", ",\n", 1) if len(label) > LONGEST else label


def _handles(*, printed: bool) -> list[Line2D]:
    ours = [
        _handle(APART, APART, "ours, 95 % interval: differs from PASTA"),
        _handle(ALIKE, "white", "ours: cannot be told apart from PASTA"),
    ]
    return [*ours, _mark("the paper's difference")] if printed else ours


def save(figure: Figure, path: Path) -> None:
    """Write a picture without the date and version that would make it another file every time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(LOOK):
        figure.savefig(path, metadata={"Software": None})
