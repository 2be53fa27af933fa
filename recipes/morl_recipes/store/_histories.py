"""Read the histories of runs: thousands of small CSV files of plain numbers."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from morl_recipes.errors import StoreError
from morl_recipes.store._run_folder import again
from morl_recipes.store._store import RUNS, Store


class History(NamedTuple):
    """Names of the columns, and numbers ``[rows, columns]``."""

    columns: tuple[str, ...]
    numbers: NDArray[np.float64]


def parse(content: bytes) -> History:
    r"""Read a history to the last bit; anything but numbers below one line of names raises ``ValueError``.

    Example:
        >>> parse(b"iteration,steps\n1,2048\n").numbers.tolist()
        [[1.0, 2048.0]]
    """
    head, _, body = content.decode("ascii").partition("\n")
    columns = tuple(head.rstrip("\r").split(","))
    if len(set(columns)) < len(columns) or not {"iteration", "steps"} <= set(columns):
        raise ValueError("its columns must be distinct, with iteration and steps among them")
    lines = body.split("\n")[: -1 if body.endswith("\n") else None] if body else []
    if any(line.count(",") != len(columns) - 1 for line in lines):
        raise ValueError(f"every line must hold {len(columns)} numbers")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy only warns about what is no number
        try:
            numbers = np.fromstring(",".join(lines), sep=",").reshape(len(lines), len(columns))
        except DeprecationWarning as warning:
            raise ValueError("it must hold numbers alone") from warning
    counts = numbers[:, [columns.index("iteration"), columns.index("steps")]]
    if not (np.isfinite(counts).all() and (np.abs(counts) < 2**53).all()):
        raise ValueError("iteration and steps must be whole numbers")
    return History(columns, numbers)


def read_history(store: Store, fields: Mapping[str, Any]) -> History:
    """Return the history of a run, given the fields of its ``run.json``."""
    run_id = fields["run_id"]
    content = store.read_file(run_id, "history.csv", dict(fields))
    try:
        return parse(content)
    except ValueError as error:
        folder = store.path / RUNS / run_id
        reason = str(error)[:200]
        raise StoreError(f"{folder / 'history.csv'}: damaged ({reason}). {again(folder)}") from error


def stacked(histories: Sequence[History]) -> pd.DataFrame:
    """Put histories below one another; a column that one does not have is NaN for it."""
    columns = list(dict.fromkeys(name for one in histories for name in one.columns))
    total = sum(len(one.numbers) for one in histories)
    table, row = np.full((total, len(columns)), np.nan), 0
    places = {names: [columns.index(name) for name in names] for names in {one.columns for one in histories}}
    for one in histories:
        table[row : row + len(one.numbers), places[one.columns]] = one.numbers
        row += len(one.numbers)
    frame = pd.DataFrame(table, columns=columns)
    return frame.astype({name: np.int64 for name in ("iteration", "steps") if name in columns})
