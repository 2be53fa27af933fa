"""Tables of a race for fronts: means over seeds with intervals, and who wins where."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._front_peers import PEERS, unable
from benchmarks._front_tasks import TASKS
from benchmarks._report import Report
from morl_blocks.metrics import bootstrap_ci, front_hypervolume
from morl_envs import CARDS, exact_front

MARKS = {"time": "when the time is up", "steps": "after the same steps"}


def tables(results: list[dict[str, Any]], tasks: list[str], contenders: list[str], report: Report) -> dict[str, Any]:
    """Say a table per task and mark, then who wins; return the figures."""
    figures: dict[str, Any] = {}
    for task in tasks:
        for mark, words in MARKS.items():
            rows = {name: _row(results, task, name, mark) for name in contenders}
            figures.setdefault(task, {})[mark] = {name: row for name, row in rows.items() if row}
            _say(task, mark, words, rows, report)
    report.say(
        "",
        "Who wins among those with the most seeds (highest mean; 'clear': interval above the other side's best):",
    )
    for mark, words in MARKS.items():
        report.say(f"  {words}")
        for task in tasks:
            for metric in ("hv", "eum"):
                report.say(f"    {task:22s} {metric.upper():4s} {_winner(figures[task][mark], metric)}")
    return figures


def _row(results: list[dict[str, Any]], task: str, name: str, mark: str) -> dict[str, Any]:
    """Return the figures of one contender; nothing if it has none."""
    own = [row[mark] for row in results if (row["task"], row["contender"]) == (task, name) and row[mark]]
    if not own:
        return {}
    row: dict[str, Any] = {"seeds": len(own)}
    for key in ("hv", "eum"):
        values = np.array([one[key] for one in own])
        _, low, high = bootstrap_ci(values[None]) if len(values) > 1 else (0.0, np.nan, np.nan)
        row[key] = {"mean": float(values.mean()), "low": float(low), "high": float(high), "seeds": values.tolist()}
    return row | {key: float(np.mean([one[key] for one in own])) for key in ("steps", "seconds")}


def _say(task: str, mark: str, words: str, rows: dict[str, dict[str, Any]], report: Report) -> None:
    """Say one table."""
    known = ""
    if CARDS[task].exact_front is not None:
        exact = exact_front(task, TASKS[task].gamma)
        known = f"; exact front: HV {front_hypervolume(exact, TASKS[task].reference):.6g}"
    report.say("", f"{task}, {words}{known}")
    head = f"{'HV':>10s} {'95 % interval':>23s} {'EUM':>9s} {'95 % interval':>21s}"
    report.say(f"  {'contender':26s} {head} {'steps':>9s} {'CPU s':>7s} seeds")
    for name, row in rows.items():
        if row:
            hv, utility = row["hv"], row["eum"]
            volume = f"{hv['mean']:10.6g} {hv['low']:11.6g} {hv['high']:11.6g}"
            text = f"{volume} {utility['mean']:9.4g} {utility['low']:10.4g} {utility['high']:10.4g}"
            report.say(f"  {name:26s} {text} {row['steps']:9.0f} {row['seconds']:7.1f} {row['seeds']:5d}")
        elif (reason := unable(name, TASKS[task])) is not None:
            report.say(f"  {name:26s} {reason}")
        else:
            report.say(f"  {name:26s} {'not run' if mark == 'time' else 'no mark at so few steps, or not reached'}")


def _winner(rows: dict[str, Any], metric: str) -> str:
    """Return whose mean is highest, and how far the best of the other side is away, among those with the most seeds.

    The best of several contenders with one seed each would often be the luckiest.
    """
    most = max((row["seeds"] for row in rows.values()), default=0)
    rows = {name: row for name, row in rows.items() if row["seeds"] == most}
    sides = {
        "ours": {name: row[metric] for name, row in rows.items() if name not in PEERS},
        "morl-baselines": {name: row[metric] for name, row in rows.items() if name in PEERS},
    }
    if not all(sides.values()):
        return "-"
    best = {side: max(own.items(), key=lambda item: item[1]["mean"]) for side, own in sides.items()}
    order = sorted(best, key=lambda side: best[side][1]["mean"], reverse=True)
    (first, top), (second, other) = best[order[0]], best[order[1]]
    if top["mean"] == other["mean"]:
        return f"tie: {first} and {second}, {top['mean']:.6g}"
    clear = "clear" if top["low"] > other["high"] else "not clear"
    return f"{order[0]}: {first} {top['mean']:.6g}, before {second} {other['mean']:.6g} ({clear})"
