"""``train(out=...)``: the same store as the command line's."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

from morl_blocks import schedulers
from morl_recipes import PASTA, ROWS, train
from morl_recipes.cli import main
from morl_recipes.report import write_report
from morl_recipes.result import TrainResult
from morl_recipes.spec import as_spec
from morl_recipes.store import Store, StoreError, load_runs
from morl_recipes.table import render_table
from morl_recipes.toy import toy
from tests.morl_recipes.worlds import tiny

QUICK: dict[str, Any] = {"num_envs": 4, "progress": False, "eval_every": 2, "eval_episodes": 2, "checkpoint_every": 2}
PREFERENCES = [[0.5, 0.5], [0.2, 0.8]]


def go(out: Path | None = None, iterations: int = 4, **options: Any) -> TrainResult:
    return train(tiny(), toy(), PREFERENCES, [0, 1], 64 * iterations, out=out, **{**QUICK, **options})


def same(first: TrainResult, second: TrainResult) -> None:
    assert (first.env, first.objectives, first.settings) == (second.env, second.objectives, second.settings)
    for a, b in zip(first.runs, second.runs, strict=True):
        pd.testing.assert_frame_equal(a.history, b.history, check_exact=True)
        names = ("recipe", "preference", "seed", "status", "reason", "peak", "final")
        assert all(getattr(a, name) == getattr(b, name) for name in names)
        for one, other in ((a.policy, b.policy), (a.peak_policy, b.peak_policy)):
            assert one.keys() == other.keys()
            assert all(torch.equal(one[name], other[name]) for name in one)


class StopAt:
    def __init__(self, step: int) -> None:
        self.step = step

    def log_scalar(self, name: str, value: float, step: int) -> None:
        if step >= self.step:
            raise StopIteration


def test_a_folder_changes_no_number_and_holds_every_run(tmp_path: Path) -> None:
    result = go(tmp_path / "s")
    same(go(), result)
    runs = load_runs(tmp_path / "s")
    assert list(runs["status"]) == ["done"] * 4
    assert not (tmp_path / "s" / "checkpoints").exists()
    assert "custom" in render_table(tmp_path / "s")
    assert write_report(tmp_path / "s", tmp_path / "report.html").exists()
    same(result, go(tmp_path / "s", resume=True))  # read, not trained


def test_an_interrupted_training_goes_on_bit_by_bit(tmp_path: Path) -> None:
    with pytest.raises(StopIteration):
        go(tmp_path, loggers=[StopAt(64 * 3)])
    (checkpoint,) = tmp_path.glob("checkpoints/*/checkpoint.safetensors")
    assert not Store.open(tmp_path).run_ids()
    with pytest.raises(ValueError, match="`out` must hold no earlier training"):
        go(tmp_path)
    same(go(), go(tmp_path, resume=True))
    assert not checkpoint.exists()


def test_a_killed_training_goes_on_bit_by_bit(tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(
        textwrap.dedent(
            """
            import sys
            import torch
            from pathlib import Path
            from tests.morl_recipes.test_stored import go
            torch.set_num_threads(1)
            go(Path(sys.argv[1]), 60, resume=True)
            """
        )
    )
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root), str(root / "envs"), str(root / "recipes")])
    command = [sys.executable, str(script), str(tmp_path / "s")]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, cwd=root)
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("s/checkpoints/*/checkpoint.safetensors")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not Store.open(tmp_path / "s").run_ids()
    same(go(iterations=60), go(tmp_path / "s", 60, resume=True))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"iterations": 5}, "total_steps 320 instead of 256"),
        ({"eval_every": 1}, "eval_every 1 instead of 2"),
    ],
)
def test_another_training_in_the_folder_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    go(tmp_path)
    with pytest.raises(StoreError, match=message):
        go(tmp_path, resume=True, **change)


def test_a_result_is_saved_as_if_it_had_had_a_folder(tmp_path: Path) -> None:
    result = go()
    store = result.save(tmp_path / "later")
    go(tmp_path / "now")
    assert store.run_ids() == Store.open(tmp_path / "now").run_ids()
    for run_id in store.run_ids():
        assert store.read(run_id) == Store.open(tmp_path / "now").read(run_id)
    same(result, go(tmp_path / "later", resume=True))


def test_python_and_the_command_line_share_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ppo = replace(PASTA.ppo, steps_per_iteration=64, epochs=1, minibatch_size=32)
    recipe = replace(ROWS["controller"]["No Decay"], ppo=ppo)
    settings: dict[str, Any] = {"num_envs": 2, "eval_episodes": 2}
    train(recipe, "deep-sea-treasure-v0", [[0.5, 0.5]], [0], 128, out=tmp_path / "s", progress=False, **settings)
    changes = ["steps_per_iteration=64", "epochs=1", "minibatch_size=32"]
    argv = ["train", "No Decay", "--env", "deep-sea-treasure-v0", "--preferences", "0.5,0.5", "--total-steps", "128"]
    argv += [word for change in changes for word in ("--set", f"ppo.{change}")]
    argv += ["--num-envs", "2", "--eval-episodes", "2", "--out", str(tmp_path / "s")]
    assert main(argv) == 0
    assert "Nothing to do: 1 of 1 run done already." in capsys.readouterr().out
    for command in (["table"], ["play", "--run", "no-decay"], ["report"]):
        assert main([command[0], str(tmp_path / "s"), *command[1:]]) == 0


def test_a_live_module_is_kept_as_its_text(tmp_path: Path) -> None:
    recipe = replace(tiny(), mu=as_spec(schedulers.Fixed(2.0)))
    result = train(recipe, toy(), PREFERENCES, [0], 128, out=tmp_path / "s", **QUICK)
    (text,) = {run.recipe["text"] for run in Store.open(tmp_path / "s").manifest.runs}
    assert "Live(module=Fixed" in text
    assert result.runs[0].recipe is recipe
    assert "custom (mu, " in render_table(tmp_path / "s")
    assert write_report(tmp_path / "s", tmp_path / "report.html").exists()


def test_live_modules_of_other_numbers_are_another_recipe(tmp_path: Path) -> None:
    def go_live(mu: float, *, resume: bool = False) -> TrainResult:
        recipe = replace(tiny(), mu=as_spec(schedulers.Fixed(mu)))
        return train(recipe, toy(), PREFERENCES, [0], 128, out=tmp_path / "s", resume=resume, **QUICK)

    first = go_live(0.25)
    same_numbers = go_live(0.25, resume=True)
    assert same_numbers.runs[0].history["mu"].tolist() == first.runs[0].history["mu"].tolist() == [0.25, 0.25]
    with pytest.raises(StoreError, match=r"live\.mu"):
        go_live(8.0, resume=True)


@pytest.mark.parametrize("make", [lambda: go(), lambda: go(iterations=1)])
def test_a_result_prints_as_a_small_table(make: Callable[[], TrainResult]) -> None:
    text = repr(make())
    assert text.startswith("4 runs on toy (")
    assert len(text.splitlines()) == 6
    assert len(text) < 800
    assert len(repr(make().runs[0])) < 1200


def test_a_policy_of_a_result_is_a_module() -> None:
    source = replace(toy(), normalize_observations=True)
    result = train(tiny(), source, PREFERENCES, [0], 128, **QUICK)
    policy = result.policy(1, "final")
    observation, preference = torch.randn(5, 4), torch.tensor([PREFERENCES[1]])
    action = policy(observation, preference)
    assert isinstance(policy, torch.nn.Module)
    assert action.shape == (5, 2)
    assert torch.equal(action, policy(observation, preference))
    assert not torch.equal(action, result.policy(0, "final")(observation, preference))
    with pytest.raises(ValueError, match="`point` must be 'peak' or 'final', got 'best'"):
        result.policy(0, "best")  # type: ignore[arg-type]
