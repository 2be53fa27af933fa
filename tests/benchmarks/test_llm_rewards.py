"""The comparison on a tiny language model, made short. Needs TRL: ``make llm``."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("trl")

from benchmarks._tiny_language_model import save
from benchmarks.llm_rewards import ROWS, Args, main, reward_functions, scored

# TRL 1.16 reads and sets options that transformers 5.23 has renamed.
RENAMED = pytest.mark.filterwarnings("ignore:.*gradient_checkpointing.*is deprecated:FutureWarning")


def test_the_trade_off_is_concave() -> None:
    brief, letters = reward_functions(16)
    texts = ["a" * n for n in range(17)]
    roots = np.sqrt(brief(texts)) + np.sqrt(letters(texts))
    np.testing.assert_allclose(roots, 1.0)
    assert brief(["", "?" * 99]) == [1.0, 0.0]
    assert letters(["", "A1 ?", "ab" * 99]) == [0.0, 0.0, 1.0]


def test_scores() -> None:
    scores = scored(np.array([[1.0, 0.0], [0.0, 1.0], [0.25, 0.25], [0.25, 0.25]]))
    assert list(scores.values()) == [0.375, 0.375, 0.375, 0.125, 0.5]


@RENAMED
def test_trains_a_model_from_a_folder(tmp_path: Path) -> None:
    save(tmp_path / "model")
    out = tmp_path / "results" / "llm.json"
    args = Args(seeds=1, steps=1, batch=16, length=4, model=str(tmp_path / "model"), out=out)
    runs = main(args)
    assert [run["row"] for run in runs] == list(ROWS)
    assert json.loads(out.read_text())["args"]["model"] == str(tmp_path / "model")
    assert out.with_suffix(".png").stat().st_size > 10_000
    assert all(row in out.with_suffix(".txt").read_text() for row in ROWS)
