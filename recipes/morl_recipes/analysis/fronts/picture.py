"""Draw a front: two objectives in 2-D, three in 3-D, more as parallel coordinates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from morl_recipes.analysis.fronts.summary import SURE, checked
from morl_recipes.analysis.report.matplotlib import INK, tidy
from morl_recipes.analysis.report.style import MATPLOTLIB_MARKER, Style, styles
from morl_recipes.common import checks
from morl_recipes.common.atomic_files import staged
from morl_recipes.common.text import for_terminal
from morl_recipes.store.front import Array, FrontReturns

FAINT = 0.3
LOOK: dict[Any, Any] = {"text.parse_math": False, "font.size": 9}
LOOK |= dict.fromkeys(("axes.edgecolor", "text.color", "axes.labelcolor"), INK)


def draw_front(front: FrontReturns, path: str | Path, known: Array | None = None) -> Path:
    """Write a picture of a front.

    Bars are 95 % intervals of the mean over the episodes. Points dominated by another point of the same seed are faint.

    Args:
        front: The front, or its record.
        path: A ``.png``, ``.pdf`` or ``.svg`` file.
        known: The exact front, if there is one, ``[k, m]``.

    Returns:
        The path.
    """
    known = checked(front, known)
    path, m = checks.path("path", path), len(front.objectives)
    front = replace(front, objectives=tuple(map(for_terminal, front.objectives)))
    with mpl.rc_context(LOOK):
        figure = Figure(figsize=(6.4, 4.8), layout="constrained")
        axes = figure.add_subplot(projection="3d" if m == 3 else None)
        seeds = sorted(set(front.seeds))
        paint = _space if m < 4 else _parallel
        paint(axes, front, [front.of(seed) for seed in seeds], known)
        axes.set_title(for_terminal(f"{front.method} on {front.env}: {front.kind}"), fontsize=10)
        if len(axes.get_legend_handles_labels()[0]) > 1:
            figure.legend(loc="outside lower center", ncols=5, frameon=False)
        with staged(path) as temporary:
            figure.savefig(temporary, dpi=160)
    return path


def _looks(fronts: list[FrontReturns]) -> list[tuple[FrontReturns, Style, str]]:
    """Return each seed's front with its style and its name."""
    names = tuple(f"seed {front.seeds[0]}" for front in fronts)
    return list(zip(fronts, styles(names), names, strict=True))


def _space(axes: Any, front: FrontReturns, fronts: list[FrontReturns], known: Array | None) -> None:
    """Draw two or three objectives."""
    plane = len(front.objectives) == 2
    if known is not None:
        hollow: dict[str, Any] = {"markerfacecolor": "none", "markersize": 9 if plane else 6, "zorder": 1}
        axes.plot(*known.T, "D", color=INK, label="exact front", **hollow)
    for own, style, name in _looks(fronts):
        axes.scatter(*own.returns.T, s=10, color=style.light, alpha=FAINT, linewidths=0)
        error = dict(zip(("xerr", "yerr", "zerr"), np.nan_to_num(SURE * own.standard_errors).T, strict=False))
        look: dict[str, Any] = {"color": style.light, "elinewidth": 0.9, "capsize": 2 * plane, "markersize": 4.5}
        axes.errorbar(*own.points.T, **error, **look, fmt=MATPLOTLIB_MARKER[style.symbol], label=name)
        if plane:
            axes.step(*own.points.T, where="pre", color=style.light, linewidth=0.8, alpha=0.6)
    for key, name in zip("xyz", front.objectives, strict=False):
        getattr(axes, f"set_{key}label")(name)
    if plane:
        tidy(axes)
    else:
        axes.set_box_aspect(None, zoom=0.85)


def _parallel(axes: Axes, front: FrontReturns, fronts: list[FrontReturns], known: Array | None) -> None:
    """Draw four objectives or more: a line per point, every objective scaled to the range of the points."""
    low, high = front.points.min(0), front.points.max(0)
    span = np.where(high > low, high - low, 1.0)
    places = np.arange(len(low))
    for own, style, name in _looks(fronts):
        scaled = (own.points - low) / span
        error = np.nan_to_num(SURE * own.standard_errors) / span
        for index, (line, bar) in enumerate(zip(scaled, error, strict=True)):
            look: dict[str, Any] = {"color": style.light, "alpha": 0.6, "linewidth": 1.0, "capsize": 2}
            axes.errorbar(places, line, yerr=bar, label=name if index == 0 else None, **look)
    texts = [f"{n}\n{a:.3g} to {b:.3g}" for n, a, b in zip(front.objectives, low, high, strict=True)]
    axes.set_xticks(places, texts)
    axes.set_ylabel("share of the range of the points")
    axes.grid(visible=True, axis="x", color=INK, linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
