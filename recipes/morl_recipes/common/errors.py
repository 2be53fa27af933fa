"""The error of everything that reads and writes results."""

from morl_recipes.common.text import for_terminal


class StoreError(Exception):
    """A store cannot be read or written; the message says which file, why, and what to do. Nothing was changed."""

    def __str__(self) -> str:
        """Return the message as one line: it may name what a stranger's file says."""
        return for_terminal(super().__str__())
