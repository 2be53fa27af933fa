from pathlib import Path
from shutil import copytree

import pytest

from morl_recipes.cli import main


def test_a_whole_store_passes(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(trained)]) == 0
    assert "8 of 8 runs are there, and all of them are whole." in capsys.readouterr().out


def test_findings_are_sentences_and_exit_code_1(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copytree(trained, tmp_path / "s")
    folder = min((tmp_path / "s" / "runs").iterdir())
    (folder / "history.csv").write_text("nothing")
    assert main(["verify", str(tmp_path / "s")]) == 1
    out = capsys.readouterr().out
    assert f"{folder}/history.csv: damaged (7 bytes" in out
    assert "Remove the folder" in out
    assert "Findings: 1. Nothing was changed." in out
    assert main(["verify", str(tmp_path)]) == 1
    assert "not a result store" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flag", "name", "text"),
    [
        ("--rows", "mine.py:MyRow", "from morl_recipes import PASTA\nMyRow = PASTA"),
        (
            "--rows",
            "mine.py",
            "from dataclasses import replace\nfrom morl_recipes import PASTA\nMyRow = replace(PASTA)",
        ),
        ("--envs", "mine.py:make_env", "from morl_envs.toy import ToyBatch as make_env"),
    ],
)
def test_dry_run_names_python_files_before_it_runs_them(
    flag: str, name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(f"{text}\nprint('I am run')\n")
    rest = ["--seeds", "0", "--set", "ppo.epochs=1", "--dry-run"]
    assert main(["sweep", *([] if flag == "--rows" else ["--rows", "PASTA"]), flag, name, *rest]) == 0
    out = capsys.readouterr().out
    assert out.index("This runs the Python file mine.py") < out.index("I am run")
    assert "Nothing was trained or written." in out
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]
