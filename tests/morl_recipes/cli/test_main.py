"""Help, lists, exit codes, and sentences instead of tracebacks."""

import builtins
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from morl_recipes.cli import main
from morl_recipes.cli.listing import ROWS_TEXT, show_rows
from morl_recipes.cli.parser import COMMANDS
from morl_recipes.cli.signals import Terminated

Patch = pytest.MonkeyPatch
Printed = pytest.CaptureFixture[str]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_examples(command: str, capsys: Printed) -> None:
    assert main([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert "Examples:" in out
    assert f"  morl-blocks {command}" in out
    assert not any(python in out for python in ("{None", "(default: )", "(default: None)"))


def test_overview_names_commands_exit_codes_and_version(capsys: Printed) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"• {command}" in out for command in COMMANDS)
    assert "Exit codes: 0" in out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"morl-blocks {metadata.version('morl-blocks')}\n"


def test_a_word_that_is_no_choice_is_answered_with_the_choices(capsys: Printed) -> None:
    assert main(["table", "runs", "--score", "best"]) == 2
    said = capsys.readouterr().err
    assert all(f"'{word}'" in said for word in ("peak", "test", "final", "test_final"))
    assert "None" not in said


@pytest.mark.parametrize("argv", [[], ["trian"], ["train"], ["train", "PASTA", "--sedes", "3"], ["table"]])
def test_wrong_usage_exits_with_2(argv: list[str], capsys: Printed) -> None:
    assert main(argv) == 2
    assert capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["train", "No PCGard"], "unknown row 'No PCGard'. Nearest: No PCGrad"),
        (["train", "PASTA", "--env", "steelth"], "'steelth'. Nearest: stealth"),
        (["train", "PASTA", "--preferences", "0.5,0.4,0.2"], "`preferences` must sum to 1"),
        (["train", "PASTA", "--preferences", "0.5,x"], "`preferences` must be numbers such as 0.1,0.7,0.2"),
        (["train", "PASTA", "--preferences", "0.5,0.5"], "`preferences` must hold 3 numbers each"),
        (["train", "PASTA", "--total-steps", "0"], "`total_steps` must be a whole number >= 1"),
        (["train", "nowhere.py:Row"], "nowhere.py: cannot be read (No such file or directory)"),
        (["sweep"], "`rows` must be given"),
        (["sweep", "nowhere.toml"], "nowhere.toml: cannot be read"),
        (["list", "everything"], "unknown row 'everything'"),
        (["sweep", "--rows", "PASTA", "--workers", "-1", "--dry-run"], "`workers` must be a whole number >= 1, got -1"),
        (["sweep", "--rows", "PASTA", "--workers", "0"], "`workers` must be a whole number >= 1, got 0"),
        (["train", "PASTA", "--seeds", "5", "--num-seeds", "5"], "`num_seeds` must not be given beside `seeds`"),
        (["sweep", "--rows", "PASTA", "--num-seeds", "0"], "`seeds` must be a whole number >= 1, got 0"),
        (["play", "nowhere", "--video", "x.avi"], "`video` must end in .gif or .mp4, got x.avi"),
        (["play", "nowhere", "--preference", "0.5,x"], "`preference` must be numbers such as 0.1,0.7,0.2"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(
    argv: list[str], message: str, tmp_path: Path, monkeypatch: Patch, capsys: Printed
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("morl-blocks: ")
    assert message in captured.err
    assert not list(tmp_path.iterdir())  # nothing was made


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "Interrupted. The same command continues"),
        (Terminated(), 143, "Terminated. The same command continues"),
        (PermissionError(13, "Permission denied", "report.html"), 3, "morl-blocks: report.html: Permission denied."),
        (OSError("no luck"), 3, "morl-blocks: no luck."),
        (MemoryError(), 3, "there is not enough memory"),
        (ZeroDivisionError(), 70, "this is a bug of morl-blocks (ZeroDivisionError)"),
    ],
)
def test_error_of_a_command_is_a_sentence_and_an_exit_code(
    error: BaseException, code: int, words: str, monkeypatch: Patch, capsys: Printed
) -> None:
    class Command:
        def run(self, argv: list[str]) -> int:
            raise error

    monkeypatch.setattr("tyro.cli", lambda *arguments, **options: Command())
    assert main(["list"]) == code
    err = capsys.readouterr().err
    assert words in err
    assert ("Traceback" in err) == (code == 70)


def test_an_interruption_of_an_import_is_an_interruption(monkeypatch: Patch) -> None:
    """Even when it hits the first import of the store, which brings torch."""

    def interrupted(name: str, importer: Any = None, *rest: object) -> object:
        below = name.startswith(("morl_recipes.analysis", "morl_recipes.running"))
        if below and importer["__name__"].startswith("morl_recipes.cli"):
            raise KeyboardInterrupt
        return original(name, importer, *rest)

    original: Any = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", interrupted)
    assert main(["table", "nowhere"]) == 130
    assert main(["sweep", "--rows", "PASTA"]) == 130


def test_python_m_is_the_same_command() -> None:
    done = subprocess.run([sys.executable, "-m", "morl_recipes", "trian"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Available subcommands: list, train" in done.stderr


def test_everything_is_listed(capsys: Printed) -> None:
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert "36 recipes of the paper in 9 groups, 18 of our own, and 6 other readings of it." in out
    assert "mo-humanoid-v5" in out
    assert "1 preferences" not in out
    for line in (
        "No Decay                   mu.base = Fixed(mu=10.0)",
        "kappa = 0.2                mu.threshold = 0.2",
        "rho=0.8                    scalarizer.maintenance = 0.8",
        "Shared Weighted            critic.critic = Shared()",
        "No PCGrad                  advantage = Scalarised()",
        "  stealth                       score, stealth, exploration; 30 observations, 2-d actions, 400 steps,",
    ):
        assert line in out


def test_listed_groups_rows_and_missing_extras(monkeypatch: Patch, capsys: Printed) -> None:
    assert main(["list", "lambda", "Linear"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert len([line for line in out if line.startswith("  ")]) == 4
    assert "PASTA as published" in out[1]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["list"]) == 0
    assert "(not installed: pip install 'morl-blocks[mujoco]')" in capsys.readouterr().out


def test_stored_text_equals_the_description_of_the_rows() -> None:
    """After a change of the rows: python -m morl_recipes.cli.listing"""
    assert ROWS_TEXT.read_text() == show_rows(()) + "\n"


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("from morl_recipes.cli import main; main(['list'])", ("torch", "pandas")),
        ("from morl_recipes.cli import main; main(['train', '--help'])", ("torch", "pandas")),
        ("from morl_recipes import train", ("torchrl", "tensordict", "mo_gymnasium", "matplotlib")),
    ],
)
def test_heavy_packages_are_loaded_when_they_are_needed(code: str, absent: tuple[str, ...]) -> None:
    check = f"import sys; {code}; sys.exit(', '.join(name for name in {absent} if name in sys.modules) or 0)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
