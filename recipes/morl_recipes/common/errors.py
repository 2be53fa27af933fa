"""The error of everything that reads and writes results."""


class StoreError(Exception):
    """A store cannot be read or written; the message says which file, why, and what to do. Nothing was changed."""
