"""TOML by the standard library; under Python 3.10 by the package that became part of it."""

import sys

if sys.version_info >= (3, 11):
    from tomllib import loads
else:
    from tomli import loads

__all__ = ["loads"]
