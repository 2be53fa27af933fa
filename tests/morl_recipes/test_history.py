from pathlib import Path

import pandas as pd
import torch

from morl_recipes import Recipe, Run
from morl_recipes.history import History

RUNS = [Run(Recipe(), (0.5, 0.5), seed) for seed in (3, 4)]


def _add(history: History, iteration: int, alive: list[bool]) -> dict[str, torch.Tensor]:
    numbers: dict[str, torch.Tensor | float] = {
        "iteration": float(iteration),
        "steps": 64.0 * iteration,
        "mu": torch.tensor([1.0, torch.nan]),
        "return": torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
    }
    return history.add(numbers, torch.tensor(alive))


def test_rows_become_frames_and_stopped_runs_end_early() -> None:
    history = History(RUNS, 2)
    assert history.frame(0).empty
    columns = _add(history, 1, [True, True])
    assert columns["return_1"].tolist() == [2.0, 4.0]
    _add(history, 2, [True, False])
    assert history.frame(0)["steps"].tolist() == [64, 128]
    assert history.frame(1)["iteration"].tolist() == [1]
    assert list(history.frame(0).columns) == ["iteration", "steps", "mu", "return_0", "return_1"]


def test_csv_grows_and_is_cut_back_by_a_resume(tmp_path: Path) -> None:
    path = tmp_path / "history.csv"
    history = History(RUNS, 2, path)
    _add(history, 1, [True, True])
    state, columns = history.state(), history.columns
    _add(history, 2, [True, False])
    table = pd.read_csv(path)
    assert table["run"].tolist() == [0, 1, 0]
    assert table["seed"].tolist() == [3, 4, 3]
    assert table["weight_1"].tolist() == [0.5] * 3
    assert table["mu"].isna().tolist() == [False, True, False]
    resumed = History(RUNS, 2, path)
    resumed.load(state, columns)
    assert len(pd.read_csv(path)) == 2
    _add(resumed, 2, [True, False])
    pd.testing.assert_frame_equal(pd.read_csv(path), table)
