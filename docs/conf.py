"""Sphinx settings."""

import sys
from importlib.metadata import version as _version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "morl-blocks"
author = "The morl-blocks contributors"
release = version = _version("morl-blocks")
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "mathml",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_default_options = {"members": True, "show-inheritance": True}
exclude_patterns = ["_build"]
html_math_renderer = "mathml"
html_theme = "furo"
html_title = "morl-blocks"
html_static_path: list[str] = []
