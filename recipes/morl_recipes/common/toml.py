"""TOML parsing by the standard library, or under Python 3.10 by the package that it is based on."""

import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib as parser
else:
    import tomli as parser


def loads(text: str) -> dict[str, Any]:
    """Parse TOML; text that is damaged or nested too deeply raises ``ValueError``."""
    try:
        return parser.loads(text)
    except RecursionError:
        raise ValueError("must be TOML of fewer than some hundred nested levels.") from None
