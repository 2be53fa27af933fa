"""The error of all code that reads or writes results."""

from morl_recipes.common.text import for_terminal


class StoreError(Exception):
    """A store cannot be read or written; the message contains the file, the reason and advice. Nothing was changed."""

    def __str__(self) -> str:
        """Return the message as one line, because it may contain text from an untrusted file."""
        return for_terminal(super().__str__())
