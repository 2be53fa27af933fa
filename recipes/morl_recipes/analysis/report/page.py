"""Write the report: figures, tables and manifest in one HTML file that needs no network."""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from string import Template
from typing import Any

from morl_recipes.analysis.report.offline import fact_list, html_list, html_table, plotly_script, resource, write_page
from morl_recipes.analysis.report.series import MAX_POINTS, history_columns
from morl_recipes.analysis.report.study_figures import curve_name, front_names, study_figures
from morl_recipes.analysis.report.style import styles
from morl_recipes.analysis.report.traces import MAX_DOMINATED
from morl_recipes.analysis.results.load import Results, load_results
from morl_recipes.analysis.results.study import Reading, Study
from morl_recipes.analysis.tables.following import HOW, following_table
from morl_recipes.analysis.tables.preferences import preference_tables
from morl_recipes.analysis.tables.summary import summary_table
from morl_recipes.common import checks, scores
from morl_recipes.common.text import for_html as escape
from morl_recipes.common.text import for_json
from morl_recipes.recipe.paper import REFERENCE, preference_labels
from morl_recipes.store.store import Store

READING_WORDS = {
    "peak": "best validation",
    "test": "policy of the best validation, on fresh episodes,",
    "final": "last validation",
    "test_final": "last policy on fresh episodes",
}


def _tables(results: Results) -> str:
    """Lay out the tables of every study; the page shows those of the chosen one."""
    blocks = []
    for i, study in enumerate(results.studies):
        each = "".join(f"<h3>{escape(table.title)}</h3>{html_table(table)}" for table in preference_tables(study))
        details = f"<details><summary>Every preference</summary>{each}</details>"
        if len(study.preferences) > 1:
            text = f"<p>{escape(HOW)}</p>{html_table(following_table(study))}"
            details += f"<details><summary>Preference following</summary>{text}</details>"
        blocks.append(f'<div data-study="{i}" hidden>{html_table(summary_table(study))}{details}</div>')
    return "".join(blocks)


def _missing(results: Results) -> str:
    """Return the first section, which lists missing runs."""
    blocks = [
        f"<p><b>{escape(study.env)}, {escape(study.group)}</b></p>{html_list(study.gaps)}"
        for study in results.studies
        if study.gaps
    ]
    title, body = "What is missing", f'<div class="gap">{"".join(blocks)}</div>'
    if not blocks:
        title, body = "Complete", '<p class="how">Every planned run is here and usable.</p>'
    return f'<section id="missing"><h2>{title}</h2>{body}</section>'


def _manifest(results: Results) -> str:
    manifest = results.manifest
    entries = {
        "Command": f"<code>{escape(manifest.command)}</code>",
        "Created": escape(manifest.created),
        "Versions": escape(", ".join(f"{name} {version}" for name, version in manifest.versions.items())),
        "Machine": escape(", ".join(f"{key}: {value}" for key, value in manifest.machine.items())),
        "Store": f"<code>{escape(results.path.name)}</code>",
    }
    for name, info in manifest.environments.items():
        bounds = info.bounds_problem or f"from {list(info.low or ())} to {list(info.high or ())}"
        entries[f"Environment {name}"] = escape(f"{', '.join(info.objectives)}; {bounds}")
    recipes = {f"{run.group}, {run.method}": run.recipe for run in manifest.runs}
    each = {name: f"<code>{escape(json.dumps(recipe))}</code>" for name, recipe in recipes.items()}
    summary = f"<summary>{len(recipes)} recipes</summary>"
    return f"{_definitions(entries)}<details>{summary}{_definitions(each)}</details>"


def _definitions(entries: Mapping[str, str]) -> str:
    return f"<dl>{''.join(f'<dt>{escape(name)}</dt><dd>{html}</dd>' for name, html in entries.items())}</dl>"


def _facts(results: Results) -> str:
    done = int((results.runs["status"] == "done").sum())
    methods = {method for study in results.studies for method in study.methods}
    facts = [
        (f"{done} of {len(results.manifest.runs)}", "runs done"),
        (str(len(methods)), "methods"),
        (str(len(results.manifest.environments)), "environments"),
        (f"{int(results.runs['steps'].sum()):,}", "environment steps"),
    ]
    return fact_list((number, word if number != "1" else word.removesuffix("s")) for number, word in facts)


def _study_data(study: Study, results: Results) -> dict[str, Any]:
    """Return the data of a study for the page, with escaped names, because plotly renders links and tags in labels."""
    study = study.renamed(partial(escape, quote=False))
    looks = zip(study.methods, styles(study.methods), strict=True)
    return {
        "title": f"{study.env}, {study.group}",
        "methods": [{"name": name, "style": vars(look)} for name, look in looks],
        "reference": study.methods.index(REFERENCE) if REFERENCE in study.methods else -1,
        "preferences": preference_labels(study.preferences),
        "fronts": front_names(study),
        "figures": study_figures(study, results.history),
    }


def write_report(
    store: str | Path | Store, out: str | Path, *, title: str = "Multi-objective policies", score: Reading | None = None
) -> Path:
    """Write the report of a store as one HTML file that opens offline.

    It works on incomplete sweeps: the report begins with a list of missing runs.

    Args:
        store: A store or its folder.
        out: Path of the HTML file; its folder is created if missing, an existing file is replaced atomically.
        title: Heading of the report.
        score: The score of each run; see :func:`~morl_recipes.analysis.tables.render_table`.

    Returns:
        The path. A store without a finished run raises :class:`~morl_recipes.store.StoreError`; without plotly an
        ``ImportError`` names the extra to install.
    """
    script = plotly_script()
    out = checks.path("out", out)
    checks.text("title", title)
    store = Store.open(store)
    results = load_results(store, score=score, history=True, columns=history_columns(store.manifest))
    names = " and ".join(dict.fromkeys(study.env for study in results.studies))
    body = Template(resource(__package__, "page.html")).substitute(
        missing=_missing(results),
        dominated=MAX_DOMINATED,
        points=MAX_POINTS,
        point=READING_WORDS[results.reading],
        curves="".join(f'<div class="figure" data-figure="{curve_name(score)}"></div>' for score in scores.SCORES),
        tables=_tables(results),
        manifest=_manifest(results),
    )
    return write_page(
        out,
        script,
        f'{{"studies":[{",".join(for_json(_study_data(study, results)) for study in results.studies)}]}}',
        title=escape(title),
        subtitle=escape(f"{names}; made {results.manifest.created}"),
        facts=_facts(results),
        body=body,
        css=resource(__package__, "page.css"),
        js=resource(__package__, "page.js"),
    )
