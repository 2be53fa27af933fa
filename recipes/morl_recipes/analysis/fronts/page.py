"""A front as one HTML file that needs no network: its picture, and a slider over the preference."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from PIL import Image

from morl_envs.source import EnvSource
from morl_recipes.analysis.fronts.summary import Reached, reached
from morl_recipes.analysis.report.offline import fact_list, inline_json, plotly_script, resource, write_page
from morl_recipes.analysis.report.style import styles
from morl_recipes.common.text import for_html as escape
from morl_recipes.recipe.protocols import protocol
from morl_recipes.running.fronts.front import Array, Front

STRIPS, FRAMES, WIDTH = 5, 7, 170


def write_front_page(
    front: Front, path: str | Path, known: Array | None = None, source: EnvSource | None = None
) -> Path:
    """Write the page of a front: the picture, the returns under each preference, and strips of a film.

    Args:
        front: The front.
        path: The HTML file; it appears when it is complete.
        known: The exact front, if there is one, ``[k, m]``.
        source: The environment, for the film; only the torch worlds (stealth, frogger, formation) have one.

    Returns:
        The path. Without plotly an ``ImportError`` names the extra to install.
    """
    script = plotly_script()
    return write_page(
        path,
        script,
        inline_json(page_data(front, known, source)),
        title=escape(f"{front.method} on {front.env}"),
        subtitle=escape(front.kind.capitalize()),
        facts=_facts(front),
        body=f"<main>\n{front_sections(front)}</main>\n",
        css=resource("morl_recipes.analysis.report", "page.css") + resource(__package__, "page.css"),
        js=resource(__package__, "page.js"),
    )


def front_sections(front: Front) -> str:
    """Return the HTML sections that show a front; their data is :func:`page_data`."""
    return Template(resource(__package__, "page.html")).substitute(published=_published(front))


def page_data(front: Front, known: Array | None = None, source: EnvSource | None = None) -> dict[str, Any]:
    """Return the data of the page as plain numbers and words."""
    summary, seeds = reached(front), sorted(set(front.seeds))
    names = tuple(f"seed {seed}" for seed in seeds)
    return {
        "objectives": [escape(name, quote=False) for name in front.objectives],
        "asked": summary.asked.tolist(),
        "mean": summary.mean.tolist(),
        "half": _numbers(summary.half),
        "over": "seeds" if summary.seeds > 1 else "episodes",
        "known": None if known is None else np.asarray(known).tolist(),
        "seeds": [
            {"name": name, "style": vars(look), **_own(front.of(seed))}
            for seed, name, look in zip(seeds, names, styles(names), strict=True)
        ],
        "strips": _strips(front, summary, source),
    }


def _own(front: Front) -> dict[str, Any]:
    """Return the points of one seed; ``kept`` are those that no other dominates."""
    return {"returns": front.returns.tolist(), "asked": front.asked.tolist(), "kept": front.kept.tolist()}


def _numbers(array: Array) -> list[list[float | None]]:
    """Return rows; JSON has no NaN."""
    return [[None if np.isnan(value) else float(value) for value in row] for row in array]


def _facts(front: Front) -> str:
    seeds = len(set(front.seeds))
    facts = (
        (len(front.kept), "points that no other dominates"),
        (len(np.unique(front.asked, axis=0)), "preferences"),
        (seeds, "seeds" if seeds > 1 else "seed"),
        (front.episodes, "episodes each" if front.episodes > 1 else "episode each"),
        (front.gamma, "discount of the returns"),
    )
    return fact_list((f"{number:g}", word) for number, word in facts)


def _published(front: Front) -> str:
    """Return published values of the same task under the same discount, with ours; nothing where none compare."""
    tasks = [task for task in protocol("B").tasks if task.env == front.env and task.comparable]
    tasks = [task for task in tasks if task.gamma == front.gamma]
    if not tasks:
        return ""
    from morl_blocks.metrics import eum

    (task,), seeds = tasks, sorted(set(front.seeds))
    frame, own = task.published(), [front.of(seed) for seed in seeds]
    ours = {
        "HV": np.mean([one.hypervolume(task.reference, allow_empty=True) for one in own]),
        "EUM": np.mean([eum(one.points, task.grid()) for one in own]),
    }
    columns = (frame[name] for name in ("method", "source", "metric", "value"))
    rows = [
        (f"{method} ({source})", str(metric), value) for method, source, metric, value in zip(*columns, strict=True)
    ]
    rows += [(f"this front, mean of {len(seeds)}", metric, value) for metric, value in ours.items()]
    heads = ("method", "metric", "value")
    cells = "".join(_row(heads, (name, metric, f"{value:.6g}")) for name, metric, value in rows)
    words = (
        f"{task.name} of protocol B: discount {task.gamma:g}, reference {list(task.reference)}, {task.steps:,} steps."
    )
    table = (
        f"<table><thead><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr></thead><tbody>{cells}</tbody></table>"
    )
    return f'<section id="published"><h2>Published</h2><p class="how">{escape(words)}</p>{table}</section>'


def _row(heads: tuple[str, ...], texts: tuple[str, ...]) -> str:
    cells = (f'<td data-label="{head}">{escape(text)}</td>' for head, text in zip(heads, texts, strict=True))
    return f"<tr>{''.join(cells)}</tr>"


def _strips(front: Front, summary: Reached, source: EnvSource | None) -> list[dict[str, Any]]:
    """Return strips of a film for a few preferences: from the first to the last picture of one episode."""
    if source is None or source.card is None or source.card.kind != "torch" or source.draw is None:
        return []
    if not front.network.known:
        return []
    from morl_envs.rendering.video import record_episode

    strips = []
    for index in np.unique(np.linspace(0, len(summary.asked) - 1, STRIPS).round().astype(int)):
        env = source.draw(1, [0])
        policy = front.policy(summary.asked[index] / summary.asked[index].sum())
        pictures = record_episode(env, policy, every=max(1, env.horizon // 50))
        chosen = np.unique(np.linspace(0, len(pictures) - 1, FRAMES).round().astype(int))
        strips.append({"index": int(index), "picture": _strip([pictures[one] for one in chosen])})
    return strips


def _strip(pictures: list[Any]) -> str:
    """Return pictures side by side, without the words on their right, as the address of a PNG."""
    edge = min(pictures[0].shape[:2])
    small = [Image.fromarray(picture).crop((0, 0, edge, edge)).resize((WIDTH, WIDTH)) for picture in pictures]
    strip = Image.new("RGB", (WIDTH * len(small), WIDTH))
    for place, picture in enumerate(small):
        strip.paste(picture, (place * WIDTH, 0))
    file = io.BytesIO()
    strip.quantize(96).save(file, format="PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
