"""``train(out=...)``: the same store as the command line's."""

import signal
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

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
from morl_recipes.store.checkpoint import CheckpointError
from morl_recipes.store.frames import load_runs
from morl_recipes.store.record import RunRecord
from morl_recipes.store.store import Store
from tests.morl_recipes.running.fakes import Press, contents, same_runs
from tests.morl_recipes.worlds import poisoned, tiny
from tests.refusals import refused

QUICK: dict[str, Any] = {"num_envs": 4, "progress": False, "eval_every": 2, "eval_episodes": 2, "checkpoint_every": 2}
PREFERENCES = [[0.5, 0.5], [0.2, 0.8]]


def go(out: Path | None = None, iterations: int = 4, env: EnvSource | None = None, **options: Any) -> TrainResult:
    return train(tiny(), env or toy(), PREFERENCES, [0, 1], 64 * iterations, out=out, **{**QUICK, **options})


def same(first: TrainResult, second: TrainResult) -> None:
    assert (first.env, first.objectives, first.settings) == (second.env, second.objectives, second.settings)
    assert [run.recipe for run in first.runs] == [run.recipe for run in second.runs]
    same_runs(first.runs, second.runs)


def test_folder_changes_no_number_and_holds_every_run(tmp_path: Path) -> None:
    result = go(tmp_path / "s")
    same(go(), result)
    runs = load_runs(tmp_path / "s")
    assert list(runs["status"]) == ["done"] * 4
    assert not (tmp_path / "s" / "checkpoints").exists()
    assert "custom" in render_table(tmp_path / "s")
    assert write_report(tmp_path / "s", tmp_path / "report.html").exists()
    same(result, go(tmp_path / "s", resume=True))  # read, not trained


def stop() -> None:
    raise StoppedError


class StoppedError(Exception):
    pass


def interrupted(out: Path, **options: Any) -> Path:
    with pytest.raises(StoppedError):
        go(out, loggers=[Press(stop, 3)], **options)
    (path,) = out.glob("checkpoints/*/checkpoint.safetensors")
    return path


def test_interrupted_training_is_not_replaced_and_resumes_bit_by_bit(tmp_path: Path) -> None:
    checkpoint = interrupted(tmp_path)
    assert not Store.open(tmp_path).run_ids()
    refused("`out` must hold no earlier training", go, tmp_path)
    same(go(), go(tmp_path, resume=True))
    assert not checkpoint.exists()


def test_damaged_checkpoint_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = interrupted(tmp_path)
    path.write_bytes(path.read_bytes()[:-100])
    same(go(), go(tmp_path, resume=True))
    assert "checkpoint.safetensors.unusable, and its runs start again" in caplog.text


def test_checkpoint_of_another_world_is_refused_and_kept(tmp_path: Path) -> None:
    path = interrupted(tmp_path, env=EnvSource("mine", ToyBatch))
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=r"must belong to the same training, got another `env.horizon`"):
        go(tmp_path, resume=True, env=EnvSource("mine", partial(ToyBatch, horizon=7)))
    assert path.read_bytes() == before


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_failed_runs_are_trained_again_when_asked_for(tmp_path: Path) -> None:
    first = go(tmp_path, env=poisoned(1, 4, after=20, place="reward"))
    assert [run.status for run in first.runs] == ["done", "failed", "done", "done"]
    healed = EnvSource("poisoned", ToyBatch)
    assert go(tmp_path, resume=True, env=healed).runs[1].status == "failed"  # read
    again = go(tmp_path, resume=True, env=healed, retry_failed=True)
    assert [run.status for run in again.runs] == ["done"] * 4


def plan_of_go() -> Plan:
    runs = [Run(tiny(), tuple(weights), seed) for weights in PREFERENCES for seed in (0, 1)]
    settings = Settings(total_steps=256, num_envs=4, eval_every=2, eval_episodes=2, checkpoint_every=2)
    return plan_runs(runs, toy().complete(), settings)


def test_interrupt_in_the_last_iteration_of_a_job_stops_before_the_next(tmp_path: Path) -> None:
    press = Press(partial(signal.raise_signal, signal.SIGINT), 4)
    plan = plan_of_go()
    execute._size(plan, Store.create(tmp_path, plan.manifest()), InlineEngine(), execute.Options(size=2))
    with pytest.raises(KeyboardInterrupt, match=r"2 of 4 runs are in .*; resume=True continues"):
        go(tmp_path, loggers=[press])
    assert len(Store.open(tmp_path).done()) == 2
    result = go(tmp_path, resume=True, loggers=[press])  # no run is left: it stops nothing
    assert [run.status for run in result.runs] == ["done"] * 4


def test_run_that_failed_before_it_had_a_policy_is_read(tmp_path: Path) -> None:
    def broken(*_: object) -> list[RunRecord]:
        raise ZeroDivisionError("a mistake")

    run_sweep(plan_of_go(), tmp_path, InlineEngine(), work=broken, progress=False)
    result = go(tmp_path, resume=True)
    assert {run.status for run in result.runs} == {"failed"}
    assert all("a mistake" in run.reason and run.policy == run.peak_policy == {} for run in result.runs)
    same(go(), go(tmp_path, resume=True, retry_failed=True))


def test_refused_argument_leaves_no_folder(tmp_path: Path) -> None:
    refused(r"`num_envs` must .*, got 5", go, tmp_path / "out", num_envs=5)
    assert not (tmp_path / "out").exists()


def test_saved_result_equals_a_training_with_a_folder(tmp_path: Path) -> None:
    result = go()
    go(tmp_path / "now")
    stores = result.save(tmp_path / "later"), Store.open(tmp_path / "now")
    assert stores[0].run_ids() == stores[1].run_ids()
    for run_id in stores[0].run_ids():
        assert stores[0].read(run_id) == stores[1].read(run_id)
    same(result, go(tmp_path / "later", resume=True))
    before = contents(tmp_path / "now")
    refused(r"`folder` must hold no earlier training \(choose another folder\)", result.save, tmp_path / "now")
    assert contents(tmp_path / "now") == before


def test_python_and_the_command_line_share_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ppo = replace(PASTA.ppo, steps_per_iteration=64, epochs=1, minibatch_size=32)
    recipe, out = replace(ROWS["controller"]["No Decay"], ppo=ppo), str(tmp_path / "s")
    env, settings = "deep-sea-treasure-v0", {"num_envs": 2, "eval_episodes": 2, "progress": False}
    train(recipe, env, [[0.5, 0.5]], [0], 128, out=out, **settings)  # type: ignore[arg-type]
    argv = ["train", "No Decay", "--env", env, "--preferences", "0.5,0.5", "--total-steps", "128", "--out", out]
    for change in ("steps_per_iteration=64", "epochs=1", "minibatch_size=32"):
        argv += ["--set", f"ppo.{change}"]
    assert main([*argv, "--num-envs", "2", "--eval-episodes", "2"]) == 0
    assert "Nothing to do: 1 of 1 run done already." in capsys.readouterr().out
    for command in (["table"], ["play", "--run", "no-decay"], ["report"]):
        assert main([command[0], out, *command[1:]]) == 0


def test_live_module_is_stored_as_text_and_identified_by_its_numbers(tmp_path: Path) -> None:
    def go_live(mu: float, *, resume: bool = False) -> TrainResult:
        recipe = replace(tiny(), mu=as_spec(schedulers.Fixed(mu)))
        result = train(recipe, toy(), PREFERENCES, [0], 128, out=tmp_path / "s", resume=resume, **QUICK)
        assert result.runs[0].recipe is recipe
        return result

    for resume in (False, True):
        assert go_live(0.25, resume=resume).runs[0].history["mu"].tolist() == [0.25, 0.25]
    with pytest.raises(StoreError, match=r"live\.mu"):
        go_live(8.0, resume=True)
    (text,) = {run.recipe["text"] for run in Store.open(tmp_path / "s").manifest.runs}
    assert "Live(module=Fixed" in text
    assert "custom (mu, " in render_table(tmp_path / "s")
    assert write_report(tmp_path / "s", tmp_path / "report.html").exists()


def test_result_prints_as_a_small_table() -> None:
    result = go(iterations=1)
    assert repr(result).startswith("4 runs on toy (")
    assert len(repr(result).splitlines()) == 6
    assert len(repr(result)) < 800
    assert len(repr(result.runs[0])) < 1200


def test_policy_of_a_result_is_a_module_that_follows_its_run() -> None:
    source = replace(toy(), normalize_observations=True)
    result = train(tiny(), source, PREFERENCES, [0], 128, **QUICK)
    policy = result.policy(1, "final")
    observation, preference = torch.randn(5, 4), torch.tensor([PREFERENCES[1]])
    assert isinstance(policy, torch.nn.Module)
    assert policy(observation, preference).shape == (5, 2)
    assert not torch.equal(policy(observation, preference), result.policy(0, "final")(observation, preference))
    refused("`point` must be 'peak' or 'final', got 'best'", result.policy, 0, "best")
