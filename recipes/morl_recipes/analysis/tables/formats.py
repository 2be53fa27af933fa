"""Print tables as plain text, Markdown, CSV or LaTeX."""

import re
import shutil
import textwrap
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from morl_recipes.analysis.tables.cells import Cell, Table
from morl_recipes.common import checks
from morl_recipes.common.text import csv_text, for_latex, for_markdown, for_terminal

Format: TypeAlias = Literal["terminal", "markdown", "csv", "latex"]


def print_tables(tables: Sequence[Table], format: Format, width: int | None = None, *, how: str) -> str:
    """Print tables in a format; ``how`` is the text below the last table that explains them."""
    checks.one_of("format", format, get_args(Format))
    if format == "terminal":
        return _terminal(tables, width or shutil.get_terminal_size((160, 24)).columns, how)
    if format == "csv":
        return _csv(tables)
    return _markdown(tables, how) if format == "markdown" else _latex(tables, how)


def _terminal(tables: Sequence[Table], width: int, how: str) -> str:
    """Intervals stand below their numbers; ``*`` marks the best."""
    parts = []
    for table in tables:
        texts = [list(map(for_terminal, table.columns))]
        texts += [[for_terminal(cell.text) + "*" * cell.best for cell in row] for row in table.rows]
        details = [[""] * len(table.columns), *([for_terminal(cell.detail) for cell in row] for row in table.rows)]
        widths = [max(map(len, column)) for column in zip(*texts, *details, strict=True)]
        title = for_terminal(table.title)
        out = [title, "=" * len(title)]
        for block in _blocks(widths, width):
            for number, (line, detail) in enumerate(zip(texts, details, strict=True)):
                out.append(_line(line, widths, block))
                if number == 0:
                    out.append("  ".join("-" * widths[i] for i in block))
                if any(detail[i] for i in block):
                    out.append(_line(detail, widths, block))
            out.append("")
        notes = [_wrapped(f"- {for_terminal(note)}", width, "  ") for note in table.notes]
        parts.append("\n".join([*out, *notes]).rstrip())
    return "\n\n".join([*parts, _wrapped(_marked("* the best of its column.", tables, how), width)]) + "\n"


def _blocks(widths: Sequence[int], available: int) -> list[list[int]]:
    """Split columns into several blocks that fit the terminal; the first column is repeated in each."""
    blocks, used = [[0]], widths[0]
    for i, width in enumerate(widths[1:], start=1):
        if used + 2 + width > available and len(blocks[-1]) > 1:
            blocks.append([0])
            used = widths[0]
        blocks[-1].append(i)
        used += 2 + width
    return blocks


def _line(texts: Sequence[str], widths: Sequence[int], block: Sequence[int]) -> str:
    """Align one line: the first column left, numbers right."""
    aligned = (texts[i].rjust(widths[i]) if i else texts[i].ljust(widths[i]) for i in block)
    return "  ".join(aligned).rstrip()


def _wrapped(text: str, width: int, indent: str = "") -> str:
    """Break a sentence at spaces into lines that fit; a path or name that is longer is not broken."""
    return textwrap.fill(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _marked(mark: str, tables: Sequence[Table], how: str) -> str:
    """Explain the mark of the best number if there is one, then the rest."""
    return f"{mark} {how}" if any(cell.best for table in tables for row in table.rows for cell in row) else how


def _markdown(tables: Sequence[Table], how: str) -> str:
    """The best of a column is bold."""

    def cell(one: Cell) -> str:
        text = f"**{for_markdown(one.text)}**" if one.best else for_markdown(one.text)
        return f"{text} {one.detail}" if one.detail else text

    parts = []
    for table in tables:
        lines = [f"### {for_markdown(table.title)}", "", "| " + " | ".join(map(for_markdown, table.columns)) + " |"]
        lines += ["|" + "---|" * len(table.columns)]
        lines += ["| " + " | ".join(map(cell, row)) + " |" for row in table.rows]
        lines += ["", *(f"- {for_markdown(note)}" for note in table.notes)] if table.notes else []
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, _marked("Bold: the best of its column.", tables, how)]) + "\n"


def _csv(tables: Sequence[Table]) -> str:
    """One table of numbers: rates in [0, 1], empty cells for missing numbers."""
    return csv_text([row for table in tables for row in table.numbers])


def _latex(tables: Sequence[Table], how: str) -> str:
    """For the LaTeX packages booktabs and graphicx; the caption explains the marks."""

    def rows(row: Sequence[Cell]) -> list[str]:
        """Print intervals below their numbers, because the table would become too wide with them beside."""
        texts = [rf"\textbf{{{for_latex(one.text)}}}" if one.best else for_latex(one.text) for one in row]
        details = [rf"{{\footnotesize {for_latex(one.detail)}}}" if one.detail else "" for one in row]
        return [" & ".join(line) + r" \\" for line in (texts, details) if any(line)]

    parts = [r"% \usepackage{booktabs, graphicx}"]
    for table in tables:
        label = "-".join(re.findall(r"[a-z0-9.]+", table.title.lower()))
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{for_latex(f'{table.title}. {how} Bold: the best of its column.')}}}",
            rf"\label{{tab:{label}}}",
            r"\smallskip",
            r"\resizebox{\linewidth}{!}{%",
            rf"\begin{{tabular}}{{l{'c' * (len(table.columns) - 1)}}}",
            r"\toprule",
            " & ".join(map(for_latex, table.columns)) + r" \\",
            r"\midrule",
            *(line for row in table.rows for line in rows(row)),
            r"\bottomrule",
            r"\end{tabular}}",
        ]
        if table.notes:
            lines += [r"\par\smallskip", rf"\parbox{{\linewidth}}{{\footnotesize {for_latex(' '.join(table.notes))}}}"]
        parts.append("\n".join([*lines, r"\end{table}"]))
    return "\n\n".join(parts) + "\n"
