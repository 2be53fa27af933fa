import sys
from pathlib import Path
from typing import NoReturn

import pytest

from morl_recipes.cli import main
from morl_recipes.recipe.spec import KINDS


def test_play_prints_returns_and_films(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["play", str(trained), "--run", "linear.0.50-0.50.s1", "--episodes", "3", "--preference", "0.9,0.1"]
    assert main(argv) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("deep-sea-treasure-v0.baselines.linear.0.50-0.50.s1")
    assert out[0].endswith("(peak), preference 0.9, 0.1")
    assert [line.split()[0] for line in out[1:3]] == ["treasure", "time"]
    assert "of the means over 3 episodes" in out[3]


def test_unrecorded_file_of_blocks_gives_no_warning(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my_rows.py").write_text("ANYTHING = 1\n")
    assert (
        main(["play", str(trained), "--episodes", "2", "--run", "pasta", "--blocks", str(tmp_path / "my_rows.py")]) == 0
    )
    assert not capsys.readouterr().err


def test_the_returns_are_printed_whatever_becomes_of_the_film(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_screen(*arguments: object, **options: object) -> NoReturn:
        raise RuntimeError("an OpenGL platform library has not been loaded")

    monkeypatch.setattr("mo_gymnasium.envs.deep_sea_treasure.deep_sea_treasure.DeepSeaTreasure.render", no_screen)
    assert main(["play", str(trained), "--episodes", "2", "--video", str(tmp_path / "x.gif")]) == 2
    captured = capsys.readouterr()
    assert "of the means over 2 episodes" in captured.out
    assert "video:" not in captured.out
    assert "cannot be drawn on this machine (an OpenGL platform library" in captured.err
    assert "set MUJOCO_GL=egl" in captured.err
    assert not list(tmp_path.iterdir())


def test_a_preference_of_the_wrong_length_is_named(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", str(trained), "--preference", "0.5,0.2,0.3"]) == 2
    assert "`preference` must hold 2 numbers (treasure, time), got [0.5, 0.2, 0.3]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("linaer", "unknown run 'linaer'"),
        ("baselines", "`run` must name one method, got 'baselines', which is part of"),
    ],
)
def test_unknown_and_ambiguous_runs_are_refused(
    trained: Path, capsys: pytest.CaptureFixture[str], run: str, message: str
) -> None:
    assert main(["play", str(trained), "--run", run]) == 2
    assert message in capsys.readouterr().err


def test_export_writes_and_checks(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnxruntime", reason="the export extra is not installed")
    out = tmp_path / "p.onnx"
    assert main(["export", str(trained), "--out", str(out), "--point", "final"]) == 0
    assert "agrees with PyTorch to 0.0e+00 on 1000 observations" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["p.onnx"]


def test_export_without_its_extra_is_a_sentence(
    trained: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("morl_recipes.running.export.find_spec", lambda name: None)
    assert main(["export", str(trained)]) == 2
    assert "pip install 'morl-blocks[export]'" in capsys.readouterr().err


def test_the_target_is_named_when_it_cannot_be_written(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("export", "report"):
        pytest.importorskip({"export": "onnxruntime", "report": "plotly"}[command])
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
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
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


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(KINDS, "WideOfMine")
    for name in [name for name in sys.modules if name.startswith("morl_rows_my_rows_")]:
        monkeypatch.delitem(sys.modules, name)


def test_an_actor_of_ones_own_is_played_where_its_file_is_named(
    own: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["play", "runs/mine", *own]) == 3
    assert "--blocks FILE" in capsys.readouterr().err
    assert main(["play", "runs/mine", *own, "--blocks", "my_rows.py", "--episodes", "2"]) == 0
    captured = capsys.readouterr()
    assert "of the means over 2 episodes" in captured.out
    assert not captured.err


@pytest.mark.parametrize(
    ("command", "options", "word"),
    [("export", ["--out", "p.onnx"], "agrees with PyTorch"), ("test", ["--episodes", "3"], "1 run tested on 3 fresh")],
)
def test_export_and_test_take_the_file_of_blocks(
    own: list[str], command: str, options: list[str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if command == "export":
        pytest.importorskip("onnxruntime", reason="the export extra is not installed")
    assert main([command, "runs/mine", *own, *options, "--blocks", "my_rows.py"]) == 0
    assert word in capsys.readouterr().out


def test_a_file_that_was_edited_since_is_mentioned(
    own: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("my_rows.py").write_text(ROWS + "\nAnother = PASTA\n")
    assert main(["play", "runs/mine", *own, "--blocks", "my_rows.py", "--episodes", "2"]) == 0
    assert "my_rows.py is not the text that runs of runs/mine were trained with" in capsys.readouterr().err
    forget(monkeypatch)
    Path("my_rows.py").write_text(ROWS.replace("24", "25"))
    assert main(["play", "runs/mine", *own, "--blocks", "my_rows.py", "--episodes", "2"]) == 3
    assert "fits no network" in capsys.readouterr().err
    forget(monkeypatch)
    Path("my_rows.py").write_text(ROWS)
    assert main(["play", "runs/mine", *own, "--blocks", "my_rows.py:Mine", "--episodes", "2"]) == 0
    assert not capsys.readouterr().err
    assert main(["play", "runs/mine", *own, "--blocks", "no_rows.py"]) == 2
    assert "no_rows.py: cannot be read" in capsys.readouterr().err
