"""Self-contained HTML pages: the template that all pages share, with plotly inlined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module, resources
from pathlib import Path
from string import Template

from morl_recipes.analysis.tables.cells import Cell, Table
from morl_recipes.common.atomic_files import staged
from morl_recipes.common.text import for_html as escape


def plotly_script() -> str:
    """Return plotly's JavaScript from the installed package, so that a page needs no network."""
    try:
        script: str = import_module("plotly.offline").get_plotlyjs()
    except ImportError as error:
        raise ImportError(
            "The interactive report needs plotly: install morl-blocks with its extra `report`, as in "
            "`pip install 'morl-blocks[report]'`. Figures as PNG and PDF work without it."
        ) from error
    return script


def resource(package: str, name: str) -> str:
    """Return the text of a file of a package."""
    return (resources.files(package) / name).read_text(encoding="utf-8")


def fact_list(facts: Iterable[tuple[str, str]]) -> str:
    """Return the numbers at the top of a page, each above its label."""
    return "".join(f"<li><b>{number}</b><span>{word}</span></li>" for number, word in facts)


def html_table(table: Table) -> str:
    """Return an HTML table; on a phone each cell shows its heading, so ``paper`` becomes ``Win rate %, paper``."""
    heads = table.columns
    labels = [f"{heads[i - 1]}, paper" if name == "paper" else name for i, name in enumerate(heads)]
    css = [' class="paper"' if label.endswith("paper") else "" for label in labels]
    top = "".join(f"<th{look}>{escape(name)}</th>" for name, look in zip(heads, css, strict=True))
    rows = "".join(f"<tr>{''.join(map(_cell, row, labels, css))}</tr>" for row in table.rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>{html_list(table.notes)}"


def _cell(cell: Cell, label: str, css: str) -> str:
    text = f"<strong>{escape(cell.text)}</strong>" if cell.best else escape(cell.text)
    small = f"<small>{escape(cell.detail)}</small>" if cell.detail else ""
    return f'<td{css} data-label="{escape(label)}"><span>{text}{small}</span></td>'


def html_list(notes: Sequence[str]) -> str:
    """Return notes as an HTML list."""
    return f'<ul class="gaps">{"".join(f"<li>{escape(note)}</li>" for note in notes)}</ul>' if notes else ""


def write_page(out: str | Path, script: str, data: str, **parts: str) -> Path:
    """Write a page atomically: plotly's script, the data as JSON, and ``title, subtitle, facts, body, css, js``."""
    shell = Template(resource("morl_recipes.analysis.report", "shell.html"))
    page = shell.substitute(parts, plotly="\0plotly\0", data="\0data\0")
    large = {"plotly": script, "data": data}
    out = Path(out)
    with staged(out) as temporary, temporary.open("w", encoding="utf-8") as file:
        for piece in page.split("\0"):  # written one by one, so that large parts are not copied
            file.write(large.get(piece, piece))
    return out
