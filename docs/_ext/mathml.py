"""Render equations as MathML when the docs are built, so that they show without a network or a script."""

from html import escape

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write one inline equation."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write one displayed equation, which scrolls by itself on a narrow screen."""
    equation = convert(node.astext(), display="block")
    label = escape(node.astext(), quote=True)
    translator.body.append(f'<div class="math" style="overflow-x: auto" title="{label}">{equation}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
