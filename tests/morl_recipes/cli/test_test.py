import shutil
from pathlib import Path

import pytest

from morl_recipes.cli import main
from morl_recipes.store.frames import load_runs


def test_stored_runs_are_tested_once(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = shutil.copytree(trained, tmp_path / "copy")
    assert main(["test", str(folder), "--episodes", "3"]) == 0
    said = capsys.readouterr()
    assert "8 runs tested on 3 fresh episodes each." in said.out
    assert said.err == ""  # a bar is for terminals
    assert set(load_runs(folder)["test_final_episodes"]) == {3}
    assert main(["test", str(folder), "--episodes", "3"]) == 0
    assert "0 runs tested on 3 fresh episodes each, 8 had a test score already." in capsys.readouterr().out
    assert main(["table", str(folder), "--score", "test"]) == 0
    assert "Scores are test scores" in capsys.readouterr().out
    assert main(["test", str(folder), "--episodes", "0"]) == 2
