"""A front as one HTML file that needs no network: a picture, and a slider over the preference."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from PIL import Image

from morl_blocks.metrics import eum
from morl_recipes.analysis.fronts.summary import checked, reached
from morl_recipes.analysis.report.offline import fact_list, html_table, plotly_script, resource, write_page
from morl_recipes.analysis.report.style import styles
from morl_recipes.analysis.tables.cells import Cell, Table
from morl_recipes.common import checks
from morl_recipes.common.errors import StoreError
from morl_recipes.common.text import for_html as escape
from morl_recipes.common.text import for_json
from morl_recipes.recipe.protocols import protocol
from morl_recipes.store.files import read_bytes
from morl_recipes.store.front import Array, FrontReturns

LARGEST_FILM = 2**25
"""Largest size of a film in bytes."""


def write_front_page(
    front: FrontReturns, path: str | Path, known: Array | None = None, film: str | Path | None = None
) -> Path:
    """Write the page of a front: the picture, the returns for each preference, and strips of a film.

    Args:
        front: The front, or its record.
        path: The HTML file.
        known: The exact front, if there is one, ``[k, m]``.
        film: The picture with the strips, if there is one: ``film.png``, as ``morl-blocks front`` writes it.

    Returns:
        The path. Without plotly an ``ImportError`` names the extra to install.
    """
    script = plotly_script()
    known = checked(front, known)
    path = checks.path("path", path)
    return write_page(
        path,
        script,
        for_json(page_data(front, known, film)),
        title=escape(f"{front.method} on {front.env}"),
        subtitle=escape(front.kind.capitalize()),
        facts=_facts(front),
        body=f"<main>\n{Template(resource(__package__, 'page.html')).substitute(published=_published(front))}</main>\n",
        css=resource("morl_recipes.analysis.report", "page.css") + resource(__package__, "page.css"),
        js=resource(__package__, "page.js"),
    )


def page_data(front: FrontReturns, known: Array | None = None, film: str | Path | None = None) -> dict[str, Any]:
    """Return the data of the page as numbers and text; JSON has no NaN."""
    summary, seeds = reached(front), sorted(set(front.seeds))
    names = tuple(f"seed {seed}" for seed in seeds)
    return {
        "objectives": [escape(name, quote=False) for name in front.objectives],
        "asked": summary.asked.tolist(),
        "mean": summary.mean.tolist(),
        "half": [[None if np.isnan(value) else value for value in row] for row in summary.half.tolist()],
        "over": "seeds" if summary.seeds > 1 else "episodes",
        "known": None if known is None else np.asarray(known).tolist(),
        "seeds": [
            {"name": name, "style": vars(look)}
            | {part: getattr(front.of(seed), part).tolist() for part in ("returns", "asked", "kept")}
            for seed, name, look in zip(seeds, names, styles(names), strict=True)
        ],
        "strips": _strips(front, film),
    }


def _facts(front: FrontReturns) -> str:
    seeds = len(set(front.seeds))
    facts = (
        (len(front.kept), "points that no other dominates"),
        (len(np.unique(front.asked, axis=0)), "preferences"),
        (seeds, "seeds" if seeds > 1 else "seed"),
        (front.episodes, "episodes each" if front.episodes > 1 else "episode each"),
        (front.gamma, "discount of the returns"),
    )
    return fact_list((f"{number:g}", word) for number, word in facts)


def _published(front: FrontReturns) -> str:
    """Return published values of the same task under the same discount, with ours; nothing where there are none."""
    tasks = [task for task in protocol("B").tasks if task.env == front.env and task.comparable]
    tasks = [task for task in tasks if task.gamma == front.gamma]
    if not tasks:
        return ""
    (task,), seeds = tasks, sorted(set(front.seeds))
    frame, own = task.published(), [front.of(seed) for seed in seeds]
    ours = {
        "HV": np.mean([one.hypervolume(task.reference, allow_empty=True) for one in own]),
        "EUM": np.mean([eum(one.points, task.grid()) for one in own]),
    }
    rows = [(f"{one['method']} ({one['source']})", one["metric"], one["value"]) for _, one in frame.iterrows()]
    rows += [(f"this front, mean of {len(seeds)}", metric, value) for metric, value in ours.items()]
    cells = tuple((Cell(name), Cell(str(metric)), Cell(f"{value:.6g}")) for name, metric, value in rows)
    table = html_table(Table("", ("method", "metric", "value"), cells))
    where = f"{task.name} of protocol B: discount {task.gamma:g}, reference {list(task.reference)}"
    words = escape(f"{where}, {task.steps:,} steps.")
    return f'<section id="published"><h2>Published</h2><p class="how">{words}</p>{table}</section>'


def _strips(front: FrontReturns, film: str | Path | None) -> list[dict[str, Any]]:
    """Return the rows of a film, each with the index of its preference and its picture as a data URL."""
    if film is None or not Path(film).exists():
        return []
    content = read_bytes(Path(film), LARGEST_FILM, "Remove it.")
    strips = []
    try:
        picture = Image.open(io.BytesIO(content))
        height = picture.height // len(front.filmed)
        for row, index in enumerate(front.filmed):
            file = io.BytesIO()
            picture.crop((0, row * height, picture.width, (row + 1) * height)).save(file, format="PNG")
            address = "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
            strips.append({"index": index, "picture": address})
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:  # what Pillow raises
        raise StoreError(f"{film}: damaged ({error}). Remove it.") from error
    return strips
