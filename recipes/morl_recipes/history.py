"""The history of a population: one row of numbers per run and iteration, in memory and as CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor

from morl_recipes.learning.runs import Run


class History:
    """Rows of numbers ``[K, R, C]`` with column names.

    Args:
        runs: The runs.
        objectives: Number of objectives, m.
        path: CSV file that grows with every row; none by default.
    """

    def __init__(self, runs: Sequence[Run], objectives: int, path: Path | None = None) -> None:
        self.runs, self.objectives, self.path = list(runs), objectives, path
        self.columns: list[str] = []
        self.rows: list[Tensor] = []

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
        """Return the rows of one run, up to where it stopped."""
        if not self.rows:
            return pd.DataFrame()
        table = torch.stack([row[run] for row in self.rows])
        frame = pd.DataFrame(table.numpy(), columns=self.columns)
        frame = frame[frame["iteration"].notna()].reset_index(drop=True)
        return frame.astype({"iteration": int, "steps": int})

    def state(self, rows: int | None = None) -> Tensor:
        """Return the first ``rows`` rows (by default all) as one tensor, ``[K, R, C]``."""
        chosen = self.rows[:rows]
        return torch.stack(chosen) if chosen else torch.zeros(0, len(self.runs), 0, dtype=torch.float64)

    def load(self, state: Tensor, columns: list[str]) -> None:
        """Continue from a saved state, and let the CSV file hold exactly that."""
        self.columns, self.rows = list(columns), list(state.unbind(0))
        if self.path is not None:
            temporary = self.path.with_suffix(".tmp")
            with temporary.open("w", newline="") as file:
                self._write(file, self.rows, header=True)
            temporary.replace(self.path)

    def _append(self, table: Tensor) -> None:
        if self.path is None:
            return
        with self.path.open("w" if len(self.rows) == 1 else "a", newline="") as file:
            self._write(file, [table], header=len(self.rows) == 1)

    def _write(self, file: object, tables: list[Tensor], *, header: bool) -> None:
        writer = csv.writer(file)  # type: ignore[arg-type]
        weights = [f"weight_{i}" for i in range(self.objectives)]
        if header:
            writer.writerow(["run", "seed", *weights, *self.columns])
        for table in tables:
            for index, (run, row) in enumerate(zip(self.runs, table.tolist(), strict=True)):
                if row[0] == row[0]:  # stopped runs have NaN everywhere
                    writer.writerow([index, run.seed, *run.preference, int(row[0]), int(row[1]), *map(_cell, row[2:])])


def _cell(number: float) -> str:
    return "" if number != number else repr(number)
