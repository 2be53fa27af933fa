"""Train and sweep from the outside: what is typed, what is printed, what is on the disk."""

import json
import os
import shutil
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from morl_recipes.cli import main
from morl_recipes.learning.diagnostics import Iteration
from morl_recipes.recipe.settings import Settings, help_texts
from morl_recipes.running import execute
from morl_recipes.running.engines.events import Work
from morl_recipes.running.recorder import Recorder
from morl_recipes.store.frames import load_runs
from morl_recipes.store.store import Store
from tests.morl_recipes.running import fakes

Patch = pytest.MonkeyPatch
Printed = pytest.CaptureFixture[str]
TINY = """
rows = ["PASTA", "Linear"]
envs = ["deep-sea-treasure-v0"]
seeds = 2
total_steps = 128
num_envs = 2
eval_episodes = 2
[ppo]
steps_per_iteration = 64
minibatch_size = 32
epochs = 1
hidden = 8
"""
ROWS = """
from dataclasses import replace
from morl_blocks.schedulers import Fixed
from morl_recipes import PASTA, PPO
from morl_recipes.recipe.specs import spec

Calm = spec(Fixed, name="Calm", mu=2.5)
MyRow = replace(PASTA, mu=Calm(), ppo=PPO(steps_per_iteration=64, minibatch_size=32, epochs=1))
"""


WORLD = """
from morl_envs.toy import ToyBatch

def make_env(num_envs, seeds):
    return ToyBatch(num_envs, seeds, observation_dim=3)
"""
SHORT = ["--total-steps", "128", "--num-envs", "2", "--eval-episodes", "2", "--quiet"]
SHORT += ["--set", "ppo.steps_per_iteration=64", "--set", "ppo.minibatch_size=32", "--set", "ppo.epochs=1"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: Patch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "my_rows.py").write_text(ROWS)
    (tmp_path / "my_env.py").write_text(WORLD)
    return tmp_path


def train_with(monkeypatch: Patch, work: Work) -> None:
    monkeypatch.setattr(execute, "train_job", partial(_without_options, work))  # workers import it by name


def _without_options(work: Work, *arguments: Any, accept_versions: bool) -> Any:
    return work(*arguments)


@pytest.fixture
def no_training(monkeypatch: Patch) -> None:
    train_with(monkeypatch, fakes.fake_work)


def test_a_users_own_block_trains_with_the_same_command(place: Path, capsys: Printed) -> None:
    argv = ["train", "my_rows.py:MyRow", "--env", "deep-sea-treasure-v0", "--total-steps", "128", "--num-envs", "2"]
    assert main([*argv, "--eval-episodes", "2"]) == 0
    folder = Path("runs") / "myrow-deep-sea-treasure-v0"
    assert f"Next: morl-blocks table {folder}" in capsys.readouterr().out
    (run,) = load_runs(folder).to_dict("records")
    assert (run["group"], run["method"], run["status"], run["steps"]) == ("my_rows", "MyRow", "done", 128)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["command"].startswith("morl-blocks train my_rows.py:MyRow --env deep-sea-treasure-v0")
    assert manifest["runs"][0]["recipe"]["mu"] == {"type": "Calm", "mu": 2.5}


@pytest.mark.usefixtures("no_training")
def test_finished_sweep_has_nothing_to_do_and_is_not_mixed_with_another(place: Path, capsys: Printed) -> None:
    assert main(["sweep", "tiny.toml", "--workers", "1"]) == 0
    assert "4 runs trained; 4 of 4 done." in capsys.readouterr().out
    expected = Settings(total_steps=128, num_envs=2, eval_episodes=2)  # of the file, where no flag was given
    assert Store.open("runs/tiny").manifest.training == expected.decisive()
    assert main(["sweep", "tiny.toml"]) == 0
    assert "Nothing to do: 4 of 4 runs done already." in capsys.readouterr().out
    assert main(["sweep", "tiny.toml", "--dry-run"]) == 0
    assert "0 to do, 0 steps" in capsys.readouterr().out
    assert main(["sweep", "tiny.toml", "--dry-run", "--seeds", "7"]) == 3
    assert "holds another sweep" in capsys.readouterr().err


def test_failed_runs_are_named_and_exit_with_1(place: Path, monkeypatch: Patch, capsys: Printed) -> None:
    train_with(monkeypatch, fakes.one_fails)
    assert main(["sweep", "tiny.toml", "--workers", "1"]) == 1
    out = capsys.readouterr().out
    assert "4 runs attempted, 1 failed; 3 of 4 done." in out
    assert "1 run failed. To train again, add --retry-failed" in out
    assert "failed: deep-sea-treasure-v0.baselines.linear.0.50-0.50.s0" in out
    assert "loss not finite in iteration 1" in out
    train_with(monkeypatch, fakes.fake_work)
    assert main(["sweep", "tiny.toml", "--retry-failed"]) == 0


def test_a_dry_run_shows_the_plan_and_touches_nothing(place: Path, capsys: Printed) -> None:
    before = sorted(place.rglob("*"))
    assert main(["sweep", "tiny.toml", "--dry-run", "--workers", "2"]) == 0
    out = capsys.readouterr().out
    assert "deep-sea-treasure-v0: Linear" in out
    assert "4 runs in 2 populations, seeds 0, 1; 4 to do, 512 steps." in out
    assert "Results would go to runs/tiny. Nothing was trained or written." in out
    assert sorted(place.rglob("*")) == before


@pytest.mark.parametrize(
    ("finder", "command", "words"),
    [
        ("importlib.util", "sweep tiny.toml --envs mo-ant-v5", "mo-ant-v5 needs the mujoco extra: pip install"),
        ("morl_recipes.running.engines.ray", "sweep tiny.toml --engine ray", "pip install 'morl-blocks[ray]'"),
        ("importlib.util", "sweep tiny.toml --device cuda:99", "`device` must be one that PyTorch finds here, got '"),
        ("importlib.util", "train PASTA --device cuda:99", "`device` must be one that PyTorch finds here, got '"),
    ],
)
def test_missing_extra_or_device_is_named_before_anything_is_written(
    finder: str, command: str, words: str, place: Path, monkeypatch: Patch, capsys: Printed
) -> None:
    monkeypatch.setattr(f"{finder}.find_spec", lambda name: None)
    assert main(command.split()) == 2
    assert words in capsys.readouterr().err
    assert not (place / "runs").exists()


def test_rows_of_flags_are_looked_for_here_and_those_of_a_file_beside_it(place: Path, capsys: Printed) -> None:
    (place / "far").mkdir()
    (place / "tiny.toml").rename(place / "far" / "tiny.toml")
    assert main(["sweep", "far/tiny.toml", "--rows", "my_rows.py:MyRow", "--dry-run"]) == 0
    (place / "far" / "own.toml").write_text('rows = ["my_rows.py:MyRow"]')
    assert main(["sweep", "far/own.toml", "--dry-run"]) == 2
    assert "far/my_rows.py: cannot be read" in capsys.readouterr().err
    (place / "my_rows.py").rename(place / "far" / "my_rows.py")
    assert main(["sweep", "far/own.toml", "--dry-run"]) == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_in_the_last_iteration_of_a_row_stops_before_the_next(
    number: int, code: int, place: Path, monkeypatch: Patch
) -> None:
    record = Recorder.record

    def pressed(recorder: Recorder, iteration: Iteration) -> None:
        os.kill(os.getpid(), number)
        record(recorder, iteration)

    monkeypatch.setattr(Recorder, "record", pressed)
    quick = ["--total-steps", "64", "--num-envs", "2", "--eval-episodes", "1", "--test-episodes", "0", "--quiet"]
    quick += [word for key in ("steps_per_iteration=64", "epochs=1") for word in ("--set", f"ppo.{key}")]
    command = ["train", "critic", "--env", "deep-sea-treasure-v0", "--preferences", "0.5,0.5", *quick]
    assert main([*command, "--out", "runs/x"]) == code
    assert len(Store.open("runs/x").done()) == 1


@pytest.mark.usefixtures("no_training")
def test_flags_of_a_sweep_reach_its_runs(place: Path) -> None:
    flags = ["--num-envs", "4", "--eval-every", "3", "--eval-episodes", "5", "--compile", "True", "--num-seeds", "3"]
    flags += ["--update", "generic", "--set", "mu.threshold=0.3", "--set", "ppo.learning_rate=1e-4"]
    rows = ["--rows", "PASTA", "--envs", "Deep-Sea-Treasure-v0"]
    assert main(["sweep", "tiny.toml", *rows, *flags, "--workers", "1"]) == 0
    assert sorted(set(load_runs("runs/tiny")["seed"])) == [0, 1, 2]
    manifest = Store.open("runs/tiny").manifest
    settings = Settings(128, num_envs=4, eval_every=3, eval_episodes=5, compile=True, update="generic")
    assert manifest.training == settings.decisive()
    recipe = manifest.runs[0].recipe
    assert (recipe["mu"]["threshold"], recipe["ppo"]["learning_rate"], recipe["ppo"]["epochs"]) == (0.3, 1e-4, 1)


@pytest.mark.parametrize("command", ["train", "sweep"])
def test_every_setting_is_a_flag_with_its_meaning(command: str, capsys: Printed) -> None:
    assert main([command, "--help"]) == 0
    out = " ".join(capsys.readouterr().out.replace("\u2502", " ").split())
    for name, meaning in help_texts().items():
        assert f"--{name.replace('_', '-')} " in out
        assert meaning in out


@pytest.mark.parametrize("env", ["mo-mountaincar-v0", "Deep-Sea-Treasure-Concave-v0"])
def test_any_registered_environment_with_a_vector_reward_trains(place: Path, env: str) -> None:
    assert main(["train", "PASTA", "--env", env, "--out", "runs/x", *SHORT]) == 0
    (run,) = load_runs("runs/x").to_dict("records")
    assert (run["env"], run["status"]) == (env.lower(), "done")
    assert main(["table", "runs/x"]) == 0
    assert main(["play", "runs/x", "--run", "pasta", "--episodes", "2"]) == 0


def test_environment_of_a_file_trains_logs_and_is_played_where_the_file_is_named(place: Path, capsys: Printed) -> None:
    assert main(["train", "PASTA", "--env", "my_env.py:make_evn"]) == 2
    assert "make_env" in capsys.readouterr().err
    assert not Path("runs").exists()
    assert main(["train", "PASTA", "--env", "my_env.py:make_env", *SHORT, "--logger", "csv"]) == 0
    folder = Path("runs/pasta-my_env-make_env")
    assert [run["env"] for run in json.loads((folder / "manifest.json").read_text())["runs"]] == ["my_env.py:make_env"]
    assert list((folder / "logs").rglob("*.csv"))
    assert main(["play", str(folder), "--env", "my_env.py:make_env"]) == 0
    (place / "my_env.py").unlink()
    assert main(["table", str(folder)]) == 0
    assert main(["play", str(folder)]) == 2  # a store's word alone runs no code


@pytest.mark.usefixtures("no_training")
def test_damaged_foreign_or_older_stores_exit_with_3_and_nothing_changes(
    place: Path, monkeypatch: Patch, capsys: Printed
) -> None:
    assert main(["sweep", "tiny.toml", "--workers", "1"]) == 0
    manifest, runs = place / "runs/tiny/manifest.json", sorted((place / "runs/tiny/runs").iterdir())
    whole, history = manifest.read_text(), runs[0] / "history.csv"

    def refuses(words: str, *commands: str) -> None:
        before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
        for command in commands:
            assert main(command.split()) == 3
            assert words in capsys.readouterr().err
        assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before

    manifest.write_text(whole.replace('"command"', '"comand"', 1))
    refuses("manifest.json: damaged", "sweep tiny.toml", "table runs/tiny")
    manifest.write_text(whole.replace('"schema": 1', '"schema": 2', 1))
    refuses("has schema version 2", "sweep tiny.toml", "table runs/tiny")
    manifest.write_text(whole)
    history.write_text("iteration")
    refuses("history.csv: damaged", "sweep tiny.toml")
    assert main(["table", "runs/tiny"]) == 0  # where the run is a gap
    for run in runs[:2]:
        shutil.rmtree(run)
    monkeypatch.setattr("morl_recipes.running.execute.other_versions", lambda *_, **__: "torch 1 instead of 2")
    refuses("under other versions", "sweep tiny.toml")


# Tests may run as root, whom permissions do not stop: a file in place of a folder does.
@pytest.mark.parametrize(
    ("out", "words"),
    [(".", "not a store and not empty"), ("tiny.toml/results", "tiny.toml/results: cannot be written (Not a dir")],
)
def test_folder_that_cannot_hold_a_store_exits_with_3(place: Path, capsys: Printed, out: str, words: str) -> None:
    assert main(["sweep", "tiny.toml", "--out", out]) == 3
    assert words in capsys.readouterr().err
    assert (place / "tiny.toml").read_text() == TINY


def test_own_rows_and_environments_travel_to_the_workers_and_decide_the_ids(place: Path) -> None:
    (place / "far").mkdir()
    for name in ("my_env.py", "my_rows.py"):
        (place / name).rename(place / "far" / name)
    (place / "far/s.toml").write_text('rows = ["PASTA", "my_rows.py:MyRow"]\nenvs = ["my_env.py:make_env"]\nseeds = 1')
    argv = ["sweep", "far/s.toml", *SHORT, "--workers", "2", "--out", "runs/x"]
    assert main(argv) == 0
    runs = load_runs("runs/x")
    assert set(zip(runs["method"], runs["status"], strict=True)) == {("MyRow", "done"), ("PASTA (Ours)", "done")}
    (place / "far" / "my_env.py").write_text(WORLD + "\n# another world\n")
    assert main(argv) == 3
