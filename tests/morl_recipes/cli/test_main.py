"""Help, exit codes, and sentences instead of tracebacks."""

import subprocess
import sys
from pathlib import Path

import pytest

from morl_recipes.cli import _main, main

COMMANDS = ["list", "train", "sweep", "table", "report", "play", "export"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert "Examples:" in out
    assert f"  morl-blocks {command}" in out


def test_the_overview_names_every_command_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"• {command}" in out for command in COMMANDS)
    assert "Exit codes: 0 all is well" in out


@pytest.mark.parametrize("argv", [[], ["trian"], ["train"], ["train", "PASTA", "--sedes", "3"], ["table"]])
def test_wrong_usage_exits_with_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    assert capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["train", "No PCGard"], "unknown row 'No PCGard'. Nearest: No PCGrad"),
        (["train", "PASTA", "--env", "steelth"], "unknown environment 'steelth'. Nearest: stealth"),
        (["train", "PASTA", "--preferences", "0.5,0.4,0.2"], "`preferences` must sum to 1"),
        (["train", "PASTA", "--preferences", "0.5,x"], "`preferences` must be numbers such as 0.1,0.7,0.2"),
        (["train", "PASTA", "--preferences", "0.5,0.5"], "`preferences` must hold 3 numbers each"),
        (["train", "PASTA", "--total-steps", "0"], "`total_steps` must be a whole number >= 1"),
        (["train", "nowhere.py:Row"], "nowhere.py: cannot be read (No such file or directory)"),
        (["sweep"], "`rows` must be given"),
        (["sweep", "nowhere.toml"], "nowhere.toml: cannot be read"),
        (["list", "everything"], "unknown row 'everything'"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(
    argv: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("morl-blocks: ")
    assert message in captured.err
    assert not list(tmp_path.iterdir())  # nothing was made


def test_files_interruptions_and_bugs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Command:
        error: BaseException = KeyboardInterrupt()

        def run(self, argv: list[str]) -> int:
            raise self.error

    command = Command()
    assert _main._run(command, []) == 130
    assert "The same command continues" in capsys.readouterr().err
    command.error = PermissionError(13, "Permission denied", "report.html")
    assert _main._run(command, []) == 3
    assert "morl-blocks: report.html: Permission denied." in capsys.readouterr().err
    command.error = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        _main._run(command, [])


def test_python_m_is_the_same_command() -> None:
    done = subprocess.run([sys.executable, "-m", "morl_recipes", "trian"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Available subcommands: list, train" in done.stderr
