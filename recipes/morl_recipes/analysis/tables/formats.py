"""Print tables: for a terminal, as Markdown, as CSV, as LaTeX."""

import csv
import io
import re
import textwrap
from collections.abc import Sequence

from morl_recipes.analysis.tables.cells import Cell, Table
from morl_recipes.common.text import for_csv, for_latex, for_markdown, for_terminal

READING = (
    "HV ± its standard deviation over preferences; in brackets 95 % intervals, a seed being one draw for all "
    "preferences and methods. 'not distinguishable': the interval of the paired difference holds 0."
)
PREFERENCE_READING = "Mean ± standard deviation over seeds; in brackets the 95 % interval of the mean HV."


def _blocks(widths: Sequence[int], available: int) -> list[list[int]]:
    """Split columns over several blocks that fit the terminal; the first column is repeated in each."""
    blocks, used = [[0]], widths[0]
    for i, width in enumerate(widths[1:], start=1):
        if used + 2 + width > available and len(blocks[-1]) > 1:
            blocks.append([0])
            used = widths[0]
        blocks[-1].append(i)
        used += 2 + width
    return blocks


def _line(texts: Sequence[str], widths: Sequence[int]) -> str:
    """Align one line: the first column to the left, numbers to the right."""
    first, *rest = (
        text.ljust(w) if i == 0 else text.rjust(w) for i, (text, w) in enumerate(zip(texts, widths, strict=True))
    )
    return "  ".join([first, *rest]).rstrip()


def _wrapped(text: str, width: int, indent: str = "") -> str:
    """Break a sentence at spaces into lines that fit; a path or a name that is longer stays whole."""
    return textwrap.fill(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _marked(mark: str, tables: Sequence[Table], how: str) -> str:
    """Explain the mark of the best where there is one, then the rest."""
    return f"{mark} {how}" if any(cell.best for table in tables for row in table.rows for cell in row) else how


def terminal(tables: Sequence[Table], width: int, how: str) -> str:
    """Print tables for a terminal of some width; intervals stand below their numbers, ``*`` marks the best."""
    parts = []
    for table in tables:
        lines = [[[for_terminal(cell.text) + "*" * cell.best, cell.detail] for cell in row] for row in table.rows]
        columns, title = [for_terminal(name) for name in table.columns], for_terminal(table.title)
        heads = [columns, *([text for text, _ in row] for row in lines)]
        details = [[detail for _, detail in row] for row in lines]
        widths = [max(len(row[i]) for row in (*heads, *details)) for i in range(len(table.columns))]
        out = [title, "=" * len(title)]
        for block in _blocks(widths, width):
            sizes = [widths[i] for i in block]
            out += [_line([columns[i] for i in block], sizes), "  ".join("-" * size for size in sizes)]
            for row in lines:
                out.append(_line([row[i][0] for i in block], sizes))
                if any(row[i][1] for i in block):
                    out.append(_line([row[i][1] for i in block], sizes))
            out.append("")
        notes = [_wrapped(f"- {for_terminal(note)}", width, "  ") for note in table.notes]
        parts.append("\n".join([*out, *notes]).rstrip())
    return "\n\n".join([*parts, _wrapped(_marked("* the best of its column.", tables, how), width)]) + "\n"


def markdown(tables: Sequence[Table], how: str) -> str:
    """Print tables as Markdown; the best of a column is bold."""

    def cell(one: Cell) -> str:
        text = f"**{for_markdown(one.text)}**" if one.best else for_markdown(one.text)
        return f"{text} {one.detail}" if one.detail else text

    parts = []
    for table in tables:
        rows = ["| " + " | ".join(map(cell, row)) + " |" for row in table.rows]
        heads = ["| " + " | ".join(map(for_markdown, table.columns)) + " |", "|" + "---|" * len(table.columns)]
        notes = ["", *(f"- {for_markdown(note)}" for note in table.notes)] if table.notes else []
        parts.append("\n".join([f"### {for_markdown(table.title)}", "", *heads, *rows, *notes]))
    return "\n\n".join([*parts, _marked("Bold: the best of its column.", tables, how)]) + "\n"


def comma_separated(tables: Sequence[Table]) -> str:
    """Print tables as one CSV of plain numbers: rates in [0, 1], nothing where there is no number."""
    rows = [row for table in tables for row in table.numbers]
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writerow({name: for_csv(name) for name in names})
    # NaN is the only value that differs from itself.
    writer.writerows({name: "" if value != value else for_csv(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def latex(tables: Sequence[Table], how: str) -> str:
    """Print tables as LaTeX (packages booktabs and graphicx), with what the marks mean in the caption."""

    def rows(row: Sequence[Cell]) -> list[str]:
        """Intervals stand below their numbers: beside them a table would shrink beyond reading."""
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
