"""What new users do in their first hour, from a wheel in a clean environment: each path works at the first try."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from morl_recipes.store.frames import load_runs

pytestmark = pytest.mark.timeout(900)  # many programs are started, each importing PyTorch

Run = Callable[..., str]
Example = Callable[[str], Path]

SHORT = ["--total-steps", "512", "--num-envs", "4", "--eval-episodes", "2", "--test-episodes", "2", "--quiet"]
SMALL = ["--set", "ppo.steps_per_iteration=256", "--set", "ppo.epochs=1"]

BY_PYTHON = """
import morl_blocks, morl_recipes
assert "site-packages" in morl_blocks.__file__, morl_blocks.__file__
from my_rows import MINE
from morl_recipes import train
short = dict(total_steps=512, num_envs=4, eval_episodes=2, test_episodes=2, progress=False)
for name, row in MINE.items():
    result = train(row, "my_env.py:make_env", [[0.5, 0.5]], seeds=[0], out=f"by_python/{name}", **short)
    print(result)
"""


def test_own_blocks_and_own_environment_by_python_and_by_command(run: Run, example: Example, tmp_path: Path) -> None:
    example("my_rows.py")
    example("my_env.py")
    (tmp_path / "by_python.py").write_text(BY_PYTHON)
    run("python", "by_python.py")
    listed = run("morl-blocks", "list", "my_rows.py")
    assert "mu = Halving(start=8.0)" in listed
    run("morl-blocks", "train", "my_rows.py:MINE", "--env", "my_env.py:make_env", *SHORT, "--out", "by_command")
    typed = load_runs(tmp_path / "by_command").set_index("method")
    for name in ("all mine", "halving"):
        (called,) = load_runs(tmp_path / "by_python" / name).to_dict("records")
        same = typed.loc[name].to_dict()
        numbers = [key for key, value in called.items() if isinstance(value, float) and "second" not in str(key)]
        assert numbers
        for key in numbers:
            np.testing.assert_equal(same[key], called[key], err_msg=key)
    assert "all mine" in run("morl-blocks", "table", "by_command")


IDS = ("mo-lunar-lander-continuous-v3", "minecart-v0", "four-room-v0", "resource-gathering-v0")


@pytest.mark.parametrize("name", IDS)
def test_an_environment_by_its_id(name: str, run: Run, tmp_path: Path) -> None:
    run("morl-blocks", "train", "PASTA", "--env", name, *SHORT, *SMALL, "--out", "by_id")
    assert list(load_runs(tmp_path / "by_id")["status"]) == ["done"]


@pytest.mark.parametrize(
    ("script", "said", "times"),
    [
        ("multi_task.py", "torchrl imported: False", 1),
        ("torchrl_loop.py", "conflict", 2),
        ("torchrl_ppo.py", "conflict", 2),
    ],
)
def test_an_example_prints_what_it_promises(script: str, said: str, times: int, run: Run, example: Example) -> None:
    assert run("python", example(script).name).count(said) == times


def test_two_processes_that_share_the_data(run: Run, example: Example) -> None:
    together, alone = run("python", example("data_parallel.py").name).splitlines()
    assert together == "the processes are apart by 0e+00"
    assert float(alone.rpartition(" ")[2]) < 1e-4


def test_the_papers_rows_anywhere(run: Run, environment: Path) -> None:
    assert run("morl-blocks", "--version").startswith("morl-blocks ")
    assert "PASTA" in run("morl-blocks", "list")
    assert "populations" in run("morl-blocks", "sweep", "smoke", "--dry-run").lower()
