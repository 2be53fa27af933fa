"""Environments that nobody registered a card for, by name and from a user's file."""

import json
from pathlib import Path

import pytest

from morl_recipes.cli import main
from morl_recipes.store.frames import load_runs

WORLD = """
from morl_envs.toy import ToyBatch

def make_env(num_envs, seeds):
    return ToyBatch(num_envs, seeds, observation_dim=3)
"""
SHORT = ["--total-steps", "128", "--num-envs", "2", "--eval-episodes", "2", "--quiet"]
SHORT += ["--set", "ppo.steps_per_iteration=64", "--set", "ppo.minibatch_size=32", "--set", "ppo.epochs=1"]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_env.py").write_text(WORLD)
    return tmp_path


@pytest.mark.parametrize("env", ["mo-mountaincar-v0", "Deep-Sea-Treasure-Concave-v0"])
def test_any_registered_environment_with_a_vector_reward_trains(env: str) -> None:
    assert main(["train", "PASTA", "--env", env, "--out", "runs/x", *SHORT]) == 0
    (run,) = load_runs("runs/x").to_dict("records")
    assert (run["env"], run["status"]) == (env.lower(), "done")
    assert main(["table", "runs/x"]) == 0
    assert main(["play", "runs/x", "--run", "pasta", "--episodes", "2"]) == 0


def test_an_environment_of_a_file_trains_and_is_played_where_the_file_is_named(place: Path) -> None:
    assert main(["train", "PASTA", "--env", "my_env.py:make_env", *SHORT]) == 0
    folder = Path("runs/pasta-my_env-make_env")
    assert [run["env"] for run in json.loads((folder / "manifest.json").read_text())["runs"]] == ["my_env.py:make_env"]
    assert main(["play", str(folder), "--env", "my_env.py:make_env"]) == 0
    (place / "my_env.py").unlink()
    assert main(["table", str(folder)]) == 0
    assert main(["play", str(folder)]) == 2  # a store's word alone runs no code


def test_the_file_of_an_environment_travels_to_the_workers_and_decides_the_ids(place: Path) -> None:
    (place / "far").mkdir()
    (place / "my_env.py").rename(place / "far" / "my_env.py")
    (place / "far" / "s.toml").write_text('rows = ["PASTA", "Linear"]\nenvs = ["my_env.py:make_env"]\nseeds = 1')
    argv = ["sweep", "far/s.toml", *SHORT, "--workers", "2", "--out", "runs/x"]
    assert main(argv) == 0
    assert set(load_runs("runs/x")["status"]) == {"done"}
    (place / "far" / "my_env.py").write_text(WORLD + "\n# another world\n")
    assert main(argv) == 3


def test_a_file_without_that_name_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "PASTA", "--env", "my_env.py:make_evn"]) == 2
    assert "make_env" in capsys.readouterr().err
    assert not Path("runs").exists()


def test_a_logger_writes_into_the_folder() -> None:
    assert main(["train", "PASTA", "--env", "my_env.py:make_env", *SHORT, "--logger", "csv", "--out", "runs/x"]) == 0
    assert list(Path("runs/x/logs").rglob("*.csv"))
