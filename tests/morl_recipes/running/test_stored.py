"""``train(out=...)``: the same store as the command line's."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

from morl_blocks import schedulers
from morl_envs.source import EnvSource
from morl_envs.toy import ToyBatch, toy
from morl_recipes import PASTA, ROWS, train
from morl_recipes.analysis.report.page import write_report
from morl_recipes.analysis.tables.render import render_table
from morl_recipes.cli import main
from morl_recipes.common.errors import StoreError
from morl_recipes.recipe.run import Run
from morl_recipes.recipe.settings import Settings
from morl_recipes.recipe.spec import as_spec
from morl_recipes.running import execute
from morl_recipes.running.engines.inline import InlineEngine
from morl_recipes.running.execute import run_sweep
from morl_recipes.running.plan import Plan, plan_runs
from morl_recipes.running.result import TrainResult
from morl_recipes.running.train import train_runs
from morl_recipes.store import versions
from morl_recipes.store.checkpoint import CheckpointError
from morl_recipes.store.frames import load_runs
from morl_recipes.store.record import RunRecord
from morl_recipes.store.store import Store
from tests.morl_recipes.worlds import poisoned, tiny
from tests.refusals import refused

QUICK: dict[str, Any] = {"num_envs": 4, "progress": False, "eval_every": 2, "eval_episodes": 2, "checkpoint_every": 2}
PREFERENCES = [[0.5, 0.5], [0.2, 0.8]]


def go(out: Path | None = None, iterations: int = 4, env: EnvSource | None = None, **options: Any) -> TrainResult:
    return train(tiny(), env or toy(), PREFERENCES, [0, 1], 64 * iterations, out=out, **{**QUICK, **options})


def same(first: TrainResult, second: TrainResult) -> None:
    assert (first.env, first.objectives, first.settings) == (second.env, second.objectives, second.settings)
    for a, b in zip(first.runs, second.runs, strict=True):
        pd.testing.assert_frame_equal(a.history, b.history, check_exact=True)
        names = ("recipe", "preference", "seed", "status", "reason", "peak", "final")
        assert all(getattr(a, name) == getattr(b, name) for name in names)
        for one, other in ((a.policy, b.policy), (a.peak_policy, b.peak_policy)):
            assert one.keys() == other.keys()
            assert all(torch.equal(one[name], other[name]) for name in one)


class StoppedError(Exception):
    pass


class StopAt:
    def __init__(self, step: int) -> None:
        self.step = step

    def log_scalar(self, name: str, value: float, step: int) -> None:
        if step >= self.step:
            raise StoppedError


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
    with pytest.raises(StoppedError):
        go(tmp_path, loggers=[StopAt(64 * 3)])
    (checkpoint,) = tmp_path.glob("checkpoints/*/checkpoint.safetensors")
    assert not Store.open(tmp_path).run_ids()
    refused("`out` must hold no earlier training", go, tmp_path)
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
            from tests.morl_recipes.running.test_stored import go
            torch.set_num_threads(1)
            go(Path(sys.argv[1]), 60, resume=True)
            """
        )
    )
    root = Path(__file__).parents[3]
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


def interrupted(out: Path, **options: Any) -> Path:
    with pytest.raises(StoppedError):
        go(out, loggers=[StopAt(64 * 3)], **options)
    (path,) = out.glob("checkpoints/*/checkpoint.safetensors")
    return path


def test_a_damaged_checkpoint_is_set_aside_as_by_the_command_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = interrupted(tmp_path)
    path.write_bytes(path.read_bytes()[:-100])
    same(go(), go(tmp_path, resume=True))
    assert "checkpoint.safetensors.unusable, and its runs start again" in caplog.text


def test_a_checkpoint_of_another_world_is_no_damaged_one(tmp_path: Path) -> None:
    path = interrupted(tmp_path, env=EnvSource("mine", ToyBatch))
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=r"must belong to the same training, got another `env.horizon`"):
        go(tmp_path, resume=True, env=EnvSource("mine", partial(ToyBatch, horizon=7)))
    assert path.read_bytes() == before


def pretend(monkeypatch: pytest.MonkeyPatch, torch: str) -> None:
    installed = {**versions.package_versions(), "torch": torch}
    monkeypatch.setattr(versions, "_installed", lambda: installed)


ASKED = r"other versions \(torch .*, here 1.0.0\).*--accept-versions \(from Python accept_versions=True\)"


def test_a_checkpoint_without_a_store_is_asked_about_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, settings = [Run(tiny(), (0.5, 0.5), 0)], Settings(total_steps=128, num_envs=4, eval_episodes=2)
    train_runs(runs, toy(), settings, folder=tmp_path, progress=False)
    pretend(monkeypatch, "1.0.0")
    with pytest.raises(StoreError, match=rf"was written by {ASKED}"):
        train_runs(runs, toy(), settings, folder=tmp_path, progress=False, resume=True)
    train_runs(runs, toy(), settings, folder=tmp_path, progress=False, resume=True, accept_versions=True)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_failed_runs_are_trained_again_when_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = go(tmp_path, env=poisoned(1, 4, after=20, place="reward"))
    assert [run.status for run in first.runs] == ["done", "failed", "done", "done"]
    healed = EnvSource("poisoned", ToyBatch)
    assert go(tmp_path, resume=True, env=healed).runs[1].status == "failed"  # read
    pretend(monkeypatch, "1.0.0")
    with pytest.raises(StoreError, match=ASKED):
        go(tmp_path, resume=True, env=healed, retry_failed=True)
    again = go(tmp_path, resume=True, env=healed, retry_failed=True, accept_versions=True)
    assert [run.status for run in again.runs] == ["done"] * 4
    versions = [fields["versions"]["torch"] for fields in Store.open(tmp_path).statuses().values()]
    assert versions.count("1.0.0") == 1


def plan_of_go() -> Plan:
    runs = [Run(tiny(), tuple(weights), seed) for weights in PREFERENCES for seed in (0, 1)]
    settings = Settings(total_steps=256, num_envs=4, eval_every=2, eval_episodes=2, checkpoint_every=2)
    return plan_runs(runs, toy().complete(), settings)


def test_an_interrupt_at_the_end_of_a_population_stops_before_the_next(tmp_path: Path) -> None:
    class Press:
        def log_scalar(self, name: str, value: float, step: int) -> None:
            if step == 64 * 4 and name == "mu/run0":
                signal.raise_signal(signal.SIGINT)

    plan = plan_of_go()
    execute._size(plan, Store.create(tmp_path, plan.manifest()), InlineEngine(), execute.Options(size=2))
    with pytest.raises(KeyboardInterrupt, match=r"2 of 4 runs are in .*; resume=True continues"):
        go(tmp_path, loggers=[Press()])
    assert len(Store.open(tmp_path).done()) == 2
    result = go(tmp_path, resume=True, loggers=[Press()])  # no run is left: it stops nothing
    assert [run.status for run in result.runs] == ["done"] * 4


def test_a_run_that_failed_before_it_had_a_policy_is_read(tmp_path: Path) -> None:
    def broken(*_: object) -> list[RunRecord]:
        raise ZeroDivisionError("a mistake")

    run_sweep(plan_of_go(), tmp_path, InlineEngine(), work=broken, progress=False)
    result = go(tmp_path, resume=True)
    assert {run.status for run in result.runs} == {"failed"}
    assert all("a mistake" in run.reason and run.policy == run.peak_policy == {} for run in result.runs)
    same(go(), go(tmp_path, resume=True, retry_failed=True))


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


def test_a_mistake_leaves_nothing_in_the_way_of_the_next_try(tmp_path: Path) -> None:
    refused(r"`num_envs` must .*, got 5", go, tmp_path / "out", num_envs=5)
    assert not (tmp_path / "out").exists()
    go(tmp_path / "out", iterations=1)


def test_a_result_is_saved_as_if_it_had_had_a_folder(tmp_path: Path) -> None:
    result = go()
    store = result.save(tmp_path / "later")
    go(tmp_path / "now")
    assert store.run_ids() == Store.open(tmp_path / "now").run_ids()
    for run_id in store.run_ids():
        assert store.read(run_id) == Store.open(tmp_path / "now").read(run_id)
    same(result, go(tmp_path / "later", resume=True))


def test_a_result_is_not_saved_among_earlier_runs(tmp_path: Path) -> None:
    go(tmp_path, 2)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}
    with pytest.raises(ValueError, match=r"`folder` must hold no earlier training \(choose another folder\), got"):
        go(iterations=2).save(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json")} == before


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


def test_a_result_prints_as_a_small_table() -> None:
    result = go(iterations=1)
    text = repr(result)
    assert text.startswith("4 runs on toy (")
    assert len(text.splitlines()) == 6
    assert len(text) < 800
    assert len(repr(result.runs[0])) < 1200


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
    refused("`point` must be 'peak' or 'final', got 'best'", result.policy, 0, "best")
