"""The one way out for text: a name from somebody's file must not command a terminal, a spreadsheet or a browser.

Nothing else in the package prints or writes CSV cells; a test holds that.
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
    r"""Return text as one line, without signs that nobody sees: it moves no cursor, changes no colour and no title.

    Example:
        >>> for_terminal("PASTA\n\x1b]0;owned\x07gone")
        'PASTA ]0;ownedgone'
    """
    joined = _BREAKS.sub(" ", text)
    return "".join(sign for sign in joined if unicodedata.category(sign) not in ("Cc", "Cf", "Cs", "Co"))


def say(*texts: object, file: TextIO | None = None) -> None:
    """Print texts of one line or more, at once, also into a file that somebody follows."""
    print("\n".join(for_terminal(line) for text in texts for line in str(text).split("\n")), file=file, flush=True)


def _clean(record: logging.LogRecord) -> bool:
    """Rewrite what is logged; nothing is left out."""
    record.msg, record.args = for_terminal(record.getMessage()), ()
    return True


LOG = logging.getLogger("morl_recipes")
"""Where warnings go."""
LOG.addFilter(_clean)


def for_markdown(text: str) -> str:
    r"""Return text that is no link, no image, no HTML and no end of a table's cell.

    Example:
        >>> print(for_markdown("[me](x) | <b>"))
        \[me\](x) \| \<b\>
    """
    escaped = _MARKDOWN.sub(r"\\\1", for_terminal(text))
    return _SCHEME.sub(lambda match: f"{match.group()[:-1]}\\{match.group()[-1]}", escaped)


def for_csv(value: object) -> object:
    """Return a cell that no spreadsheet runs: text that begins like a formula gets an apostrophe; numbers stay.

    Example:
        >>> for_csv("=HYPERLINK(1)"), for_csv(-0.5)
        ("'=HYPERLINK(1)", -0.5)
    """
    if not isinstance(value, str):
        return value
    text = for_terminal(value)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) or value.startswith(_FORMULA) else text


def csv_text(rows: Sequence[Mapping[Any, object]]) -> str:
    r"""Return rows as CSV with a line of names; a cell that is missing or NaN is empty.

    Example:
        >>> csv_text([{"=name": "@x", "hv": 0.5}, {"hv": float("nan")}])
        "'=name,hv\n'@x,0.5\n,\n"
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writerow({name: for_csv(name) for name in names})
    # NaN is the only value that differs from itself.
    writer.writerows({name: "" if value != value else for_csv(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def for_json(value: object) -> str:
    r"""Return JSON for a script or a header of a page: ``<`` is escaped, so that no text inside is a tag or ends it.

    Example:
        >>> for_json(["</script>", 0.5])
        '["\\u003c/script>",0.5]'
    """
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def for_latex(text: str) -> str:
    r"""Return text that is no command and that every LaTeX can print.

    A bracket or a star that begins a row is no option of the line break before. Letters that need a font package are
    spelt without their marks, others by their number.

    Example:
        >>> for_latex(r"[1ex] a_b & \input{x}")
        '{}[1ex] a\\_b \\& \\textbackslash{}input\\{x\\}'
        >>> for_latex("λ ő 中")
        '$\\lambda$ o U+4E2D'
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
    """Return text that is no tag; the labels of a figure, which plotly draws itself, know no quoted quotes.

    Example:
        >>> for_html("<a href='x'>m</a>", quote=False)
        "&lt;a href='x'&gt;m&lt;/a&gt;"
    """
    return escape(for_terminal(text), quote=quote)
