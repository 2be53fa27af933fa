"""The history of a population: one row of numbers per run and iteration, in memory and as an append-only CSV file.

The checkpoint does not hold the history, because it would grow with it. It holds the length of the file and its
checksum. Rows after this length belong to iterations that are trained again.
"""

from __future__ import annotations

import csv
import io
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from morl_recipes.common import atomic_files, scores
from morl_recipes.recipe.run import Run


class Mark(NamedTuple):
    """Length of the part of the file with the first ``rows`` rows, and its checksum."""

    rows: int
    size: int
    checksum: int


class History:
    """Rows of numbers ``[K, R, C]`` with column names, and the CSV file that grows with every row, if there is one."""

    def __init__(self, runs: Sequence[Run], objectives: int, path: Path | None = None) -> None:
        self.runs, self.objectives, self.path = list(runs), objectives, path
        self.columns: list[str] = []
        self.rows: list[Tensor] = []
        self.mark = Mark(0, 0, 0)

    def add(self, numbers: dict[str, Tensor | float], alive: Tensor) -> dict[str, Tensor]:
        """Append one row per run; rows of stopped runs are NaN. Returns the columns, ``[R]`` each, on the CPU."""
        count = len(self.runs)
        spread: dict[str, Tensor] = {}
        for name, value in numbers.items():
            tensor = torch.as_tensor(value, dtype=torch.float64, device=alive.device)
            if tensor.dim() == 2:
                spread |= {f"{name}_{i}": column for i, column in enumerate(tensor.unbind(-1))}
            else:
                spread[name] = tensor.expand(count)
        self.columns = list(spread)
        table = torch.where(alive.unsqueeze(-1), torch.stack(list(spread.values()), dim=-1), torch.nan).cpu()
        self.rows.append(table)
        self._append(table)
        return dict(zip(self.columns, table.unbind(-1), strict=True))

    def frame(self, run: int) -> pd.DataFrame:
        """Return the rows of one run, up to the row where it stopped."""
        if not self.rows:
            return pd.DataFrame()
        table = torch.stack([row[run] for row in self.rows])
        frame = pd.DataFrame(table.numpy(), columns=self.columns)
        frame = frame[frame["iteration"].notna()].reset_index(drop=True)
        return frame.astype({"iteration": int, "steps": int})

    def flush(self) -> None:
        """Flush all rows to disk; a checkpoint may refer to them only after that."""
        if self.path is not None and self.mark.size:
            atomic_files.flush(self.path)

    def load(self, mark: Mark, columns: Sequence[str]) -> None:
        """Continue from the mark and the columns of a checkpoint, and remove later rows from the file."""
        content = b""
        if self.path is not None and mark.size and self.path.is_file():
            with self.path.open("rb") as file:
                content = file.read(min(mark.size, self.path.stat().st_size))
        if (len(content), zlib.crc32(content)) != (mark.size, mark.checksum):
            raise ValueError(f"another history.csv than the one of {mark.size} bytes that it was saved with")
        self.columns, self.mark = list(columns), mark
        self.rows = self._parse(content, mark.rows)
        if self.path is not None:
            atomic_files.append(self.path, b"", at=mark.size)

    def _parse(self, content: bytes, count: int) -> list[Tensor]:
        """Return the rows ``[R, C]`` of a file: one line per iteration and run that was active in it."""
        rows = torch.full((count, len(self.runs), len(self.columns)), torch.nan, dtype=torch.float64)
        if count:
            lines = torch.from_numpy(np.genfromtxt(io.BytesIO(content), delimiter=",", skip_header=1, ndmin=2))
            numbers = lines[:, 2 + self.objectives :]
            row = numbers[:, 0].unique(return_inverse=True)[1]
            rows[row, lines[:, 0].long()] = numbers
        return list(rows.unbind(0))

    def _append(self, table: Tensor) -> None:
        """Write a row per active run to the file, below a line of names."""
        if self.path is None:
            return
        rows, size, checksum = self.mark
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        if rows == 0:
            writer.writerow(["run", "seed", *(f"weight_{i}" for i in range(self.objectives)), *self.columns])
        for index, (run, row) in enumerate(zip(self.runs, table.tolist(), strict=True)):
            if row[0] == row[0]:  # stopped runs have NaN everywhere
                cells = ["" if number != number else repr(number) for number in row[2:]]
                writer.writerow([index, run.seed, *run.preference, int(row[0]), int(row[1]), *cells])
        content = text.getvalue().encode()
        atomic_files.append(self.path, content, at=size)
        self.mark = Mark(rows + 1, size + len(content), zlib.crc32(content, checksum))


def validation_at(frame: pd.DataFrame, objectives: int, iteration: int | None = None) -> dict[str, Any] | None:
    """Return the validation at an iteration (by default the last one) as a record's point; its returns are finite."""
    if frame.empty:
        return None
    names = [f"return_{i}" for i in range(objectives)]
    known = frame[np.isfinite(frame[names]).all(axis=1)]
    if iteration is not None:
        known = known[known["iteration"] == iteration]
    if known.empty:
        return None
    row = known.iloc[-1]
    return {
        "iteration": int(row["iteration"]),
        "steps": int(row["steps"]),
        "returns": tuple(float(row[name]) for name in names),
        **{name: float(row[name]) for name in scores.names()},
    }
