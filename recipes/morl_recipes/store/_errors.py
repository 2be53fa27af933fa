"""The one error of the result store."""


class StoreError(Exception):
    """A store cannot be read or written; the message says which file, why, and what to do. Nothing was changed."""
