"""Learning curves with intervals, one picture per environment: hypervolume above, expected utility below."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from benchmarks.claims.claims import others
from benchmarks.claims.ingredients import LINEAR, PLAIN, VECTOR
from benchmarks.claims.pictures import LOOK, WIDTH
from benchmarks.claims.rows import PASTA, Row, Rows
from benchmarks.claims.section import Section
from benchmarks.claims.words import listed
from morl_blocks.metrics import Interval
from morl_recipes.analysis.report.matplotlib import tidy
from morl_recipes.analysis.report.style import MATPLOTLIB_DASH, Style, styles
from morl_recipes.analysis.results.statistics import mean_interval
from morl_recipes.common.scores import Score
from morl_recipes.recipe.paper import REFERENCE

APART = (PLAIN, VECTOR, Row("pcgrad", "No PCGrad"))
"""Rows that take PASTA apart."""
FEW = 3
"""A picture with fewer rows has room for others."""


def environments(section: Section) -> list[str]:
    """Return the environments of which learning curves are drawn: those judged at full length, with any curve."""
    judged = {finding.claim.env for finding in section.findings if finding.claim.at_full_length}
    return [env for env in section.rows if env in judged and _with_curves(section, env)]


def picture_name(section: Section, env: str) -> str:
    """Return the file name of the picture of an environment."""
    return f"{section.dataset.name}_{env.replace('-', '_')}-curves.png"


def wanted(section: Section, env: str) -> list[Row]:
    """Return the rows to show: PASTA, Linear, and the best baseline by each score."""
    best = [row for judgement in section.judgements if (row := best_baseline(judgement.rows[env])) is not None]
    return list(dict.fromkeys((PASTA, LINEAR, *best)))


def best_baseline(rows: Rows) -> Row | None:
    """Return the baseline with the highest mean score of those that are fully trained."""
    means = {row: rows.mean(row).estimate for row in others(PASTA.group) if rows.complete(row)}
    return max(means, key=means.__getitem__, default=None)


def drawn(section: Section, env: str) -> list[Row]:
    """Return the rows to show that have curves; with fewer than three of them, also rows that take PASTA apart."""
    there = _with_curves(section, env)
    found = [row for row in wanted(section, env) if row in there]
    return found if len(found) >= FEW else [*found, *(row for row in APART if row in there)]


def _with_curves(section: Section, env: str) -> set[Row]:
    """Return the rows that are fully trained and of which every run has a curve."""
    if section.curves.empty:
        return set()
    own = section.curves[section.curves["env"] == env]
    counts = {
        Row(str(group), str(method)): int(runs["run_id"].nunique())
        for (group, method), runs in own.groupby(["group", "method"])
    }
    return {row for row, number in counts.items() if (number, number) == section.rows[env].runs(row)}


def caption(section: Section, env: str) -> list[str]:
    """Say what the picture shows, and which rows it cannot show."""
    said = ["Means of ten validation episodes, over seeds, with 95 % intervals."]
    if set(drawn(section, env)) & set(APART):
        said.append("Shown are PASTA, Linear, the best baseline by each score, and rows that take PASTA apart.")
    else:
        said.append("Shown are PASTA, Linear, and the best baseline by each score.")
    rows, there = section.rows[env], _with_curves(section, env)
    absent = [row.method for row in wanted(section, env) if rows.complete(row) and row not in there]
    if absent:
        said.append(f"Left out, because no curves were kept when they were trained: {listed(absent)}.")
    return said


def course_of(curves: pd.DataFrame, score: Score) -> tuple[np.ndarray, list[Interval]]:
    """Return the steps of a row's validations, and the mean at each of them with its interval over seeds."""
    cells = curves.pivot_table(index=["steps", "preference"], columns="seed", values=score.name)
    steps = np.array(sorted(set(curves["steps"])))
    values = [cells.xs(step, level="steps").to_numpy() for step in steps]
    return steps, [mean_interval(one, np.isfinite(one), limits=score.limits) for one in values]


def draw_curves(section: Section, env: str) -> Figure:
    """Draw the learning curves of an environment."""
    rows = drawn(section, env)
    looks = styles(tuple(row.method for row in rows))
    with mpl.rc_context(LOOK):
        figure = Figure(figsize=(WIDTH, 5.6 + 0.17 * len(rows)), layout="constrained")
        for axes, judgement in zip(figure.subplots(2, 1, sharex=True), section.judgements, strict=True):
            for row, look in zip(rows, looks, strict=True):
                _curve(axes, section.curves, env, row, judgement.score, look)
            axes.set_ylabel(judgement.score.title)
            tidy(axes)
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.set_xlabel("environment steps")
        figure.suptitle(f"{env}: validations, mean of seeds", fontsize=11)
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", frameon=False, fontsize=8.5, ncols=2)
    return figure


def _curve(axes: Axes, curves: pd.DataFrame, env: str, row: Row, score: Score, look: Style) -> None:
    own = curves[(curves["env"] == env) & (curves["group"] == row.group) & (curves["method"] == row.method)]
    steps, found = course_of(own, score)
    middle, low, high = np.array(found).T
    label = "PASTA" if row.method == REFERENCE else row.method
    axes.plot(steps, middle, color=look.light, linestyle=MATPLOTLIB_DASH[look.dash], linewidth=1.6, label=label)
    axes.fill_between(steps, low, high, color=look.light, alpha=0.13, linewidth=0)
