"""Safe text output: a name from an untrusted file must not control a terminal, a spreadsheet or a browser.

No other module of the package prints text or writes CSV cells; a test checks this.
"""

import csv
import io
import json
import logging
import re
import unicodedata
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, TextIO

_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_MARKDOWN = re.compile(r"([\\\[\]<>|])")
_SCHEME = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*):(?=//)|\b(javascript|data|vbscript|mailto):|\b(www)\.")
_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
    "omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
_SIGNS = {"±": "pm", "†": "dagger", "≥": "ge", "≤": "le", "×": "times", "µ": "mu", "∞": "infty"}  # noqa: RUF001
_SIGNS |= zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", _GREEK.split(), strict=True)
_LATEX = {
    "\\": r"\textbackslash{}",
    "—": "---",
    "–": "--",  # noqa: RUF001
    "−": "$-$",  # noqa: RUF001
    "`": r"\textasciigrave{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"${sign}$" for sign in "<>|"},
    **{sign: "\\" + sign for sign in "&%$#_{}"},
    **{sign: rf"$\{name}$" for sign, name in _SIGNS.items()},
}
_LATEX_KNOWS = set("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿ…§¶©")  # without a font package


def for_terminal(text: str) -> str:
    r"""Return text as one line without invisible characters, which could move the cursor or set colours."""
    joined = _BREAKS.sub(" ", text)
    return "".join(sign for sign in joined if unicodedata.category(sign) not in ("Cc", "Cf", "Cs", "Co"))


def say(*texts: object, file: TextIO | None = None) -> None:
    """Print texts of one or more lines, flushed at once so that a log file can be followed."""
    print("\n".join(for_terminal(line) for text in texts for line in str(text).split("\n")), file=file, flush=True)


def _clean(record: logging.LogRecord) -> bool:
    """Escape log messages without removing any of them."""
    record.msg, record.args = for_terminal(record.getMessage()), ()
    return True


LOG = logging.getLogger("morl_recipes")
"""File that warnings are written to."""
LOG.addFilter(_clean)


def for_markdown(text: str) -> str:
    r"""Return text that cannot become a link, an image, HTML or the end of a table cell in Markdown."""
    escaped = _MARKDOWN.sub(r"\\\1", for_terminal(text))
    return _SCHEME.sub(lambda match: f"{match.group()[:-1]}\\{match.group()[-1]}", escaped)


def for_csv(value: object) -> object:
    """Return a cell that no spreadsheet evaluates: text that begins like a formula gets an apostrophe; numbers stay."""
    if not isinstance(value, str):
        return value
    text = for_terminal(value)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) or value.startswith(_FORMULA) else text


def csv_text(rows: Sequence[Mapping[Any, object]]) -> str:
    """Return rows as CSV with a header line; a missing cell or NaN is empty."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writerow({name: for_csv(name) for name in names})
    # NaN is the only value that differs from itself.
    writer.writerows({name: "" if value != value else for_csv(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def for_json(value: object) -> str:
    """Return JSON for a script or a header of a page: ``<`` is escaped, so that text cannot contain a tag."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def for_latex(text: str) -> str:
    r"""Return text without LaTeX commands that every LaTeX can print.

    A bracket or a star at the start of a row is not read as an option of the previous line break. Letters that need a
    font package lose their accents; other characters are printed as their code point.

    Example:
        >>> for_latex(r"[1ex] a_b \input{x} λ ő 中")
        '{}[1ex] a\\_b \\textbackslash{}input\\{x\\} $\\lambda$ o U+4E2D'
    """
    escaped = "".join(map(_latex_sign, for_terminal(text)))
    return "{}" + escaped if escaped.lstrip().startswith(("[", "*")) else escaped


def _latex_sign(sign: str) -> str:
    if sign in _LATEX:
        return _LATEX[sign]
    if sign.isascii() or sign in _LATEX_KNOWS:
        return sign
    letters = unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode()
    return "".join(_LATEX.get(one, one) for one in letters) or f"U+{ord(sign):04X}"


def for_html(text: str, *, quote: bool = True) -> str:
    """Return text without tags; labels of a figure, which plotly draws itself, do not support escaped quotes."""
    return escape(for_terminal(text), quote=quote)
