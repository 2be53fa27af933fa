"""The figures of the report as PNG and PDF, for papers and slides."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from morl_recipes.analysis.report.matplotlib import draw, projection
from morl_recipes.analysis.report.series import CONTROLLER, history_columns
from morl_recipes.analysis.report.study_figures import curve_name, front_names, study_figures
from morl_recipes.analysis.report.style import MATPLOTLIB_DASH, MATPLOTLIB_MARKER, styles
from morl_recipes.analysis.results.load import load_results
from morl_recipes.analysis.results.study import Reading, Study
from morl_recipes.common import checks, scores
from morl_recipes.common.text import for_terminal
from morl_recipes.recipe.paper import preference_labels
from morl_recipes.store.store import Store

FORMATS = ("png", "pdf")
RC: dict[Any, Any] = {"text.parse_math": False, "font.size": 8.5, "axes.titlesize": 9, "axes.edgecolor": "#8a94a0"}
RC |= {"figure.dpi": 100, "savefig.dpi": 200, "pdf.fonttype": 42, "hatch.linewidth": 0.7, "hatch.color": "white"}
ROWS = ("hypervolume", "against")
"""Pages with one line per method, which need no legend."""
Drawing = tuple[str, dict[str, Any]]


def _pages(study: Study, figures: dict[str, dict[str, Any]]) -> dict[str, tuple[int, list[Drawing]]]:
    """Return the number of columns and the drawings with titles of each page."""
    labels = preference_labels(study.preferences)

    def whole(*names: str) -> list[Drawing]:
        return [("", figures[name]["all"]) for name in names]

    def each(name: str) -> list[Drawing]:
        found = figures[name]
        return [(label, found.get(str(p), found["all"])) for p, label in enumerate(labels)]

    curves = [each(curve_name(score)) for score in scores.SCORES]
    training = [pair for pairs in zip(*curves, strict=True) for pair in pairs]
    fronts = whole(*(name for name in front_names(study) if name != "front_3d"))
    pages: dict[str, tuple[int, list[Drawing]]] = {
        "hypervolume": (1, whole("bars")),
        "against": (1, whole("against")),
        "training": (len(curves) * (2 if len(labels) > 2 else 1), training),
        "radar": (min(4, len(labels)), each("radar")),
        "front": (len(fronts), fronts),
        "controller": (2, whole(*CONTROLLER)),
        "profiles": (1, whole("profiles")),
    }
    return pages | ({"front_3d": (1, whole("front_3d"))} if "front_3d" in figures else {})


def _page(study: Study, name: str, columns: int, drawings: Sequence[Drawing]) -> Figure:
    """Lay out one page."""
    rows = math.ceil(len(drawings) / columns)
    width = max(5.2, 3.4 * columns)
    height = 1.2 + 0.28 * len(study.methods) if name in ROWS else 0.9 + (4.2 if name == "front_3d" else 2.5) * rows
    figure = Figure(figsize=(width, height), layout="constrained")
    looks = styles(study.methods)
    for i, (title, drawing) in enumerate(drawings):
        axes = figure.add_subplot(rows, columns, i + 1, projection=projection(drawing))
        draw(axes, drawing, looks)
        axes.set_title(title)
    if name not in ROWS:
        marks = [(s.light, MATPLOTLIB_DASH[s.dash], MATPLOTLIB_MARKER[s.symbol]) for s in looks]
        handles = [
            Line2D([], [], color=colour, linestyle=dash, marker=symbol, label=method)
            for method, (colour, dash, symbol) in zip(study.methods, marks, strict=True)
        ]
        ncols = min(len(handles), max(2, int(width / 1.35)))
        figure.legend(handles=handles, loc="outside lower center", ncols=ncols, frameon=False, handlelength=3)
    return figure


def write_figures(
    store: str | Path | Store, out: str | Path, *, formats: Iterable[str] = FORMATS, score: Reading | None = None
) -> list[Path]:
    """Write the figures of the report with matplotlib, as files such as ``stealth-baselines_training.pdf``.

    A figure that cannot be drawn contains the reason instead.

    Args:
        store: A store or its folder.
        out: Folder for the files; created if missing.
        formats: ``"png"``, ``"pdf"``, ``"svg"``.
        score: The score of each run; see :func:`~morl_recipes.analysis.tables.render_table`.

    Returns:
        The paths.
    """
    formats, folder = checks.names("formats", formats), checks.path("out", out)
    if set(formats) - {"png", "pdf", "svg"}:
        raise ValueError(f"`formats` must be some of 'png', 'pdf', 'svg', got {formats}.")
    store = Store.open(store)
    results = load_results(store, score=score, history=True, columns=history_columns(store.manifest))
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with mpl.rc_context(RC):
        for study in (own.renamed(for_terminal) for own in results.studies):
            pages = _pages(study, study_figures(study, results.history))
            for name, (columns, drawings) in pages.items():
                figure = _page(study, name, columns, drawings)
                for suffix in formats:
                    path = folder / f"{study.key}_{name}.{suffix}"
                    figure.savefig(path)
                    written.append(path)
                    figure.set_layout_engine("none")  # keep the layout that was computed once
    return written
