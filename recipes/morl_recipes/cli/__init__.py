"""The command line: ``morl-blocks list | train | sweep | table | report | play | export``."""

from morl_recipes.cli._main import main

__all__ = ["main"]
