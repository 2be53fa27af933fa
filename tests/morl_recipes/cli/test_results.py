"""Commands that read results: table, report, figures, test, verify, play and export."""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

from benchmarks import publish
from morl_recipes.cli import main
from morl_recipes.recipe.spec import KINDS
from morl_recipes.store.frames import load_runs

Patch = pytest.MonkeyPatch
Printed = pytest.CaptureFixture[str]


@pytest.mark.parametrize("command", ["table", "report", "figures", "test", "play", "export"])
def test_a_folder_without_results_or_the_name_of_a_table_is_refused(
    command: str, tmp_path: Path, capsys: Printed
) -> None:
    if command == "export":  # without its extra, that is said first
        pytest.importorskip("onnx")
    assert main([command, str(tmp_path)]) == 3
    assert "not a result store (it has no manifest.json)" in capsys.readouterr().err
    assert main([command, "stealth-200k"]) == 2
    assert "morl-blocks table --results stealth-200k" in capsys.readouterr().err


def test_report_and_figures_are_files_that_are_named(trained: Path, tmp_path: Path, capsys: Printed) -> None:
    out = tmp_path / "pictures"
    assert main(["figures", str(trained), "--out", str(out), "--formats", "png"]) == 0
    *named, last = capsys.readouterr().out.splitlines()
    assert sorted(named) == sorted(str(path) for path in out.iterdir())
    assert last == f"{len(named)} files in {out}"
    assert main(["figures", str(trained), "--formats", "bmp"]) == 2
    capsys.readouterr()
    pytest.importorskip("plotly", reason="the report extra is not installed")
    assert main(["report", str(trained), "--out", f"{tmp_path}/r.html", "--title", "Mine"]) == 0
    assert capsys.readouterr().out.strip() == f"{tmp_path}/r.html"
    assert "Mine" in (tmp_path / "r.html").read_text()


def test_results_that_were_published_are_printed_like_a_folder(trained: Path, tmp_path: Path, capsys: Printed) -> None:
    path = tmp_path / "mine.csv"
    publish.main(publish.Args(folders=(trained,), name="mine", out=tmp_path))
    assert f"Next: morl-blocks table --results {path}" in capsys.readouterr().out
    texts = []
    for where in (["--results", str(path)], [str(trained)]):
        assert main(["table", *where, "--score", "final"]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    for wrong in ([], [str(trained), "--results", str(path)]):
        assert main(["table", *wrong]) == 2
        assert "needs the folder of results, or --results NAME, and not both" in capsys.readouterr().err
    assert main(["table", "--results", "nobody"]) == 2
    assert "unknown results 'nobody'" in capsys.readouterr().err


def test_stored_runs_are_tested_once(trained: Path, tmp_path: Path, capsys: Printed) -> None:
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


def test_verify_prints_findings_and_exits_with_1(trained: Path, tmp_path: Path, capsys: Printed) -> None:
    assert main(["verify", str(trained)]) == 0
    assert "8 of 8 runs are there, and all of them are whole." in capsys.readouterr().out
    shutil.copytree(trained, tmp_path / "s")
    folder = min((tmp_path / "s" / "runs").iterdir())
    (folder / "history.csv").write_text("nothing")
    assert main(["verify", str(tmp_path / "s")]) == 1
    out = capsys.readouterr().out
    for words in (f"{folder}/history.csv: damaged (7 bytes", "Remove the folder", "Findings: 1. Nothing was changed."):
        assert words in out
    assert main(["verify", str(tmp_path)]) == 1
    assert "not a result store" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        ("--rows mine.py:MyRow", "from morl_recipes import PASTA\nMyRow = PASTA"),
        ("--rows mine.py", "from dataclasses import replace\nfrom morl_recipes import PASTA\nMyRow = replace(PASTA)"),
        ("--rows PASTA --envs mine.py:make_env", "from morl_envs.toy import ToyBatch as make_env"),
    ],
)
def test_dry_run_names_python_files_before_it_runs_them(
    flags: str, text: str, tmp_path: Path, monkeypatch: Patch, capsys: Printed
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(f"{text}\nprint('I am run')\n")
    assert main(["sweep", *flags.split(), "--seeds", "0", "--set", "ppo.epochs=1", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert out.index("This runs the Python file mine.py") < out.index("I am run")
    assert "Nothing was trained or written." in out
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


def test_play_prints_returns_and_films(trained: Path, tmp_path: Path, capsys: Printed) -> None:
    (blocks := tmp_path / "my_rows.py").write_text("ANYTHING = 1\n")
    argv = ["play", str(trained), "--run", "linear.0.50-0.50.s1", "--episodes", "3", "--preference", "0.9,0.1"]
    assert main([*argv, "--blocks", str(blocks)]) == 0
    printed, warned = capsys.readouterr()
    assert not warned  # no file was recorded that this one could differ from
    out = printed.splitlines()
    assert out[0].startswith("deep-sea-treasure-v0.baselines.linear.0.50-0.50.s1")
    assert out[0].endswith("(peak), preference 0.9, 0.1")
    assert [line.split()[0] for line in out[1:3]] == ["treasure", "time"]
    assert "of the means over 3 episodes" in out[3]


def test_the_returns_are_printed_whatever_becomes_of_the_film(
    trained: Path, tmp_path: Path, monkeypatch: Patch, capsys: Printed
) -> None:
    def no_screen(*arguments: object, **options: object) -> NoReturn:
        raise RuntimeError("an OpenGL platform library has not been loaded")

    monkeypatch.setattr("mo_gymnasium.envs.deep_sea_treasure.deep_sea_treasure.DeepSeaTreasure.render", no_screen)
    assert main(["play", str(trained), "--episodes", "2", "--video", str(tmp_path / "x.gif")]) == 2
    out, err = capsys.readouterr()
    assert "of the means over 2 episodes" in out
    assert "video:" not in out
    assert "cannot be drawn on this machine (an OpenGL platform library" in err
    assert "set MUJOCO_GL=egl" in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--run", "linaer"], "unknown run 'linaer'"),
        (["--run", "baselines"], "`run` must name one method, got 'baselines', which is part of"),
        (["--preference", "0.5,0.2,0.3"], "`preference` must hold 2 numbers each, got [0.5, 0.2, 0.3]"),
    ],
)
def test_unknown_and_ambiguous_runs_and_wrong_preferences_are_refused(
    trained: Path, capsys: Printed, argv: list[str], message: str
) -> None:
    assert main(["play", str(trained), *argv]) == 2
    assert message in capsys.readouterr().err


def test_export_writes_and_checks_or_names_what_is_missing(
    trained: Path, tmp_path: Path, monkeypatch: Patch, capsys: Printed
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("morl_recipes.running.export.find_spec", lambda name: None)
        assert main(["export", str(trained)]) == 2
    assert "pip install 'morl-blocks[export]'" in capsys.readouterr().err
    pytest.importorskip("onnxruntime", reason="the export extra is not installed")
    assert main(["export", str(trained), "--out", str(tmp_path / "p.onnx"), "--point", "final"]) == 0
    assert "agrees with PyTorch to 0.0e+00 on 1000 observations" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["p.onnx"]


@pytest.mark.parametrize(("command", "package"), [("export", "onnxruntime"), ("report", "plotly")])
def test_target_is_named_when_it_cannot_be_written(command: str, package: str, trained: Path, capsys: Printed) -> None:
    pytest.importorskip(package)
    assert main([command, str(trained), "--out", "/dev/null/x"]) == 3
    assert "morl-blocks: /dev/null/x: cannot be written (" in capsys.readouterr().err


ROWS = """
from dataclasses import replace

from morl_blocks.ppo import UnitBoxGaussianActor
from morl_recipes.recipe.rows import PASTA
from morl_recipes.recipe.spec import spec


class WideOfMine(UnitBoxGaussianActor):
    def __init__(self, observation_dim, num_objectives, action_dim):
        super().__init__(observation_dim, num_objectives, action_dim, hidden=24)


Mine = replace(PASTA, actor=spec(WideOfMine)())
"""
WORLD = """
from morl_envs.toy import ToyBatch

make_env = ToyBatch
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: Patch) -> list[str]:
    """Train a row and a world of one's own, and forget the row, as a new process would; how to name the world."""
    monkeypatch.chdir(tmp_path)
    Path("my_rows.py").write_text(ROWS)
    Path("my_env.py").write_text(WORLD)
    env = ["--env", "my_env.py:make_env"]
    short = ["--total-steps", "64", "--num-envs", "2", "--eval-episodes", "2", "--test-episodes", "2", "--quiet"]
    short += ["--set", "ppo.steps_per_iteration=64", "--set", "ppo.epochs=1", "--compile", "False"]
    assert main(["train", "my_rows.py:Mine", "--out", "runs/mine", *env, *short]) == 0
    forget(monkeypatch)
    return env


def forget(monkeypatch: Patch) -> None:
    monkeypatch.delitem(KINDS, "WideOfMine")
    for name in [name for name in sys.modules if name.startswith("morl_rows_my_rows_")]:
        monkeypatch.delitem(sys.modules, name)


def test_stored_actor_of_ones_own_needs_its_file(own: list[str], monkeypatch: Patch, capsys: Printed) -> None:
    commands = {"play --episodes 2": "of the means over 2 episodes", "test --episodes 3": "1 run tested on 3 fresh"}
    commands |= {"export --out p.onnx": "agrees with PyTorch"} if find_spec("onnxruntime") else {}
    for words, printed in commands.items():
        command, *options = words.split()
        assert main([command, "runs/mine", *own, *options]) == 3
        assert "--blocks FILE" in capsys.readouterr().err
        assert main([command, "runs/mine", *own, *options, "--blocks", "my_rows.py"]) == 0
        assert printed in capsys.readouterr().out
        forget(monkeypatch)


def test_a_file_that_was_edited_since_is_mentioned(own: list[str], monkeypatch: Patch, capsys: Printed) -> None:
    def play(text: str, blocks: str = "my_rows.py") -> tuple[int, str]:
        Path("my_rows.py").write_text(text)
        code = main(["play", "runs/mine", *own, "--blocks", blocks, "--episodes", "2"])
        if "WideOfMine" in KINDS:
            forget(monkeypatch)
        return code, capsys.readouterr().err

    code, said = play(ROWS + "\nAnother = PASTA\n")
    assert (code, "my_rows.py differs from the file that runs of runs/mine" in said) == (0, True)
    code, said = play(ROWS.replace("24", "25"))
    assert (code, "fits no network" in said) == (3, True)
    assert play(ROWS, "my_rows.py:Mine") == (0, "")
    code, said = play(ROWS, "no_rows.py")
    assert (code, "no_rows.py: cannot be read" in said) == (2, True)
