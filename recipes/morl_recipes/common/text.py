"""Plain text for every format: a name from somebody's file must not command a terminal, a spreadsheet or a browser."""

import re
import unicodedata
from html import escape

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


def one_line(text: str) -> str:
    r"""Return text without line breaks and without signs that nobody sees, such as control codes.

    Example:
        >>> one_line("PASTA\n\x1b[2Jgone")
        'PASTA [2Jgone'
    """
    joined = _BREAKS.sub(" ", text)
    return "".join(sign for sign in joined if unicodedata.category(sign) not in ("Cc", "Cf", "Cs", "Co"))


def for_terminal(text: str) -> str:
    r"""Return text that moves no cursor, changes no colour and no title.

    Example:
        >>> for_terminal("\x1b]0;owned\x07Linear")
        ']0;ownedLinear'
    """
    return one_line(text)


def for_markdown(text: str) -> str:
    r"""Return text that is no link, no image, no HTML and no end of a table's cell.

    Example:
        >>> print(for_markdown("[me](x) | <b>"))
        \[me\](x) \| \<b\>
    """
    escaped = _MARKDOWN.sub(r"\\\1", one_line(text))
    return _SCHEME.sub(lambda match: match.group().rstrip(":.") + "\u200b" + match.group()[-1], escaped)


def for_csv(value: object) -> object:
    """Return a cell that no spreadsheet runs: text that begins like a formula gets an apostrophe; numbers stay.

    Example:
        >>> for_csv("=HYPERLINK(1)"), for_csv(-0.5)
        ("'=HYPERLINK(1)", -0.5)
    """
    if not isinstance(value, str):
        return value
    text = one_line(value)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) or value.startswith(_FORMULA) else text


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
    escaped = "".join(map(_latex_sign, one_line(text)))
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
    return escape(one_line(text), quote=quote)
