import logging
import re
import signal
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from morl_envs.toy import ToyBatch, toy
from morl_recipes import PASTA, PPO, ROWS, EnvSource, Run, Settings, train, train_runs
from morl_recipes.learning.batch import Batch
from morl_recipes.recipe.settings import NAMES
from morl_recipes.running.plan import plan_runs
from morl_recipes.running.recorder import Recorder
from morl_recipes.running.result import TrainResult
from morl_recipes.store.checkpoint import CheckpointError, load
from tests.morl_recipes.worlds import Scripts, poisoned, tiny
from tests.refusals import refused

HALF = (0.5, 0.5)
QUICK = {"num_envs": 4, "progress": False, "eval_every": 2, "eval_episodes": 2, "checkpoint_every": 2}


def _with(options: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**options, **changes}


def _train(runs: Sequence[Run], env: Any, total_steps: int, options: dict[str, Any]) -> TrainResult:
    settings = {name: value for name, value in options.items() if name in NAMES}
    others = {name: value for name, value in options.items() if name not in NAMES}
    return train_runs(runs, env, Settings(total_steps=total_steps, **settings), **others)


def _go(iterations: int = 6, options: dict[str, Any] = QUICK, seeds: Sequence[int] = (0, 1)) -> TrainResult:
    return _train([Run(tiny(), HALF, seed) for seed in seeds], toy(), 64 * iterations, options)


def _same(first: TrainResult, second: TrainResult) -> None:
    for a, b in zip(first.runs, second.runs, strict=True):
        pd.testing.assert_frame_equal(a.history, b.history, check_exact=True)
        assert a.peak == b.peak
        assert a.final == b.final
        for name in a.policy:
            assert torch.equal(a.policy[name], b.policy[name]), name
            assert torch.equal(a.peak_policy[name], b.peak_policy[name]), name


def test_result_has_one_run_per_preference_and_seed() -> None:
    result = train(
        tiny(), toy(), [[0.5, 0.5], [0.1, 0.9]], [0, 7], 130, num_envs=4, progress=False, eval_every=2, eval_episodes=3
    )
    assert [(run.preference, run.seed) for run in result.runs] == [
        ((0.5, 0.5), 0),
        ((0.5, 0.5), 7),
        ((0.1, 0.9), 0),
        ((0.1, 0.9), 7),
    ]
    history = result.runs[1].history
    assert history["steps"].tolist() == [64, 128, 192]  # 130 steps, rounded up to whole iterations
    assert history["return_0"].isna().tolist() == [True, False, False]
    for name in ("mu", "conflict", "kl", "clip_fraction", "entropy", "loss_value", "loss_objective_1", "episode_0"):
        assert history[name].notna().all(), name
    run = result.runs[0]
    assert run.status == "done"
    assert run.final is not None
    assert run.peak is not None
    assert run.final["steps"] == 192
    assert run.peak["hv"] >= run.final["hv"]
    expected = np.clip(np.array(run.final["returns"]) / 16, 0, 1).prod()
    assert run.final["hv"] == pytest.approx(expected)
    assert run.final["eu"] == pytest.approx(np.dot(run.final["returns"], HALF))
    assert set(run.policy) == {
        "log_std",
        *(f"{n}.{k}" for n in ("trunk.0", "trunk.2", "mean") for k in ("weight", "bias")),
    }
    assert list(result.summary()["seed"]) == [0, 7, 0, 7]


@pytest.mark.parametrize("recipe", ["PASTA (Ours)", "Linear"])
def test_learns_the_toy_world(recipe: str) -> None:
    """The linear optimum of equal weights earns 0.875 per step and objective: 14 per episode; random actions, 9."""
    ppo = PPO(steps_per_iteration=512, epochs=10, learning_rate=3e-3, entropy_coefficient=0.0)
    row = replace(ROWS["baselines"][recipe], ppo=ppo)
    result = train(row, toy(), [HALF], [0, 1, 2], 512 * 25, progress=False, eval_every=25)
    for run in result.runs:
        assert run.final is not None
        assert run.final["eu"] > 0.95 * 14, run.final


def test_linear_follows_the_preference() -> None:
    """The optimum of weights (w, 1 - w) is the action (w, 1 - w)."""
    ppo = PPO(steps_per_iteration=512, epochs=10, learning_rate=3e-3, entropy_coefficient=0.0)
    row = replace(ROWS["baselines"]["Linear"], ppo=ppo)
    result = train(row, toy(), [[0.9, 0.1], [0.1, 0.9]], [0], 512 * 30, progress=False, eval_every=30)
    first, second = (run.final for run in result.runs)
    assert first is not None
    assert second is not None
    assert first["returns"][0] > first["returns"][1] + 1
    assert second["returns"][1] > second["returns"][0] + 1


def test_resume_goes_on_bit_by_bit(tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    class Bomb:
        def log_scalar(self, name: str, value: float, step: int) -> None:
            if step == 64 * 5:
                raise StopError

    uninterrupted = _go()
    options = _with(QUICK, folder=tmp_path / "run")
    with pytest.raises(StopError):
        _go(options=_with(options, loggers=[Bomb()]))
    resumed = _go(options=_with(options, resume=True))
    _same(uninterrupted, resumed)
    table = pd.read_csv(tmp_path / "run" / "history.csv")
    assert len(table) == 12
    assert table["iteration"].tolist() == [k for k in range(1, 7) for _ in range(2)]
    again = _go(options=_with(options, resume=True))  # nothing left to do
    _same(uninterrupted, again)


def test_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    options = _with(QUICK, folder=tmp_path, resume=True)
    _go(2, options)
    with pytest.raises(CheckpointError, match="same training, got another `total_steps`: stored 128, given 192"):
        _go(3, options)
    with pytest.raises(CheckpointError, match=r"same training, got another `seeds\[1\]`: stored 1, given 5"):
        _go(2, options, seeds=(0, 5))
    with pytest.raises(CheckpointError, match="same training, got another `runs`: stored 2, given 3"):
        _go(2, options, seeds=(0, 1, 2))
    with pytest.raises(ValueError, match="`out` must hold no earlier training"):
        _go(2, _with(options, resume=False))
    with pytest.raises(ValueError, match="`out` must be given to resume"):
        _go(2, _with(options, folder=None))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"horizon": 32}, "`env.horizon`: stored 16, given 32"),
        ({"observation_dim": 6}, "`env.observation_dim`: stored 4, given 6"),
        ({"action_dim": 3}, "`env.action_dim`: stored 2, given 3"),
    ],
)
def test_another_environment_of_the_same_name_is_refused(tmp_path: Path, changed: dict[str, int], message: str) -> None:
    options = _with(QUICK, folder=tmp_path, resume=True)
    _go(2, options)
    with pytest.raises(CheckpointError, match=f"got another {message}"):
        _train([Run(tiny(), HALF, seed) for seed in (0, 1)], toy(**changed), 128, options)


def test_a_state_that_does_not_fit_is_a_checkpoint_error(tmp_path: Path) -> None:
    def bare(num_envs: int, seeds: Sequence[int]) -> ToyBatch:
        env = ToyBatch(num_envs, seeds)
        env.get_state, env.set_state = dict, id  # type: ignore[method-assign,assignment]
        return env

    options = _with(QUICK, folder=tmp_path, resume=True)
    _train([Run(tiny(), HALF, 0)], EnvSource("toy", bare), 128, options)
    with pytest.raises(CheckpointError, match=r"`.*checkpoint.safetensors` must fit this training, got 'seed'"):
        _train([Run(tiny(), HALF, 0)], EnvSource("toy", ToyBatch), 128, options)


def test_a_failed_run_is_reported_and_the_others_finish(caplog: pytest.LogCaptureFixture) -> None:
    runs = [Run(tiny(), HALF, seed) for seed in range(2)]
    source = poisoned(1, 4, after=70, place="reward")
    with caplog.at_level(logging.WARNING, logger="morl_recipes"):
        result = _train(runs, source, 64 * 8, _with(QUICK, eval_episodes=3))
    assert [run.status for run in result.runs] == ["done", "failed"]
    assert result.runs[1].reason == "reward not finite in iteration 5"
    assert "Run 1 (preference [0.5, 0.5], seed 1) stopped: reward not finite in iteration 5" in caplog.text
    assert len(result.runs[0].history) == 8
    assert len(result.runs[1].history) == 4
    assert result.runs[1].final is not None
    assert result.runs[1].final["iteration"] == 4
    assert all(bool(tensor.isfinite().all()) for tensor in result.runs[1].policy.values())


def _nothing(step: int, reward: torch.Tensor) -> None:
    pass


@pytest.mark.parametrize("objective", [0, 1])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_validation_that_is_not_finite_stops_its_run_alone(
    objective: int, value: float, caplog: pytest.LogCaptureFixture
) -> None:
    def spoil(step: int, reward: torch.Tensor) -> None:
        if step > 16:  # from the second validation on, which ends iteration 4
            reward[2:, objective] = value

    runs = [Run(tiny(), HALF, seed) for seed in range(2)]
    with caplog.at_level(logging.WARNING, logger="morl_recipes"):
        result = _train(runs, replace(toy(), make=Scripts(_nothing, spoil)), 64 * 6, QUICK)
    assert [run.status for run in result.runs] == ["done", "failed"]
    assert result.runs[1].reason == "validation return not finite in iteration 4"
    assert "Run 1 (preference [0.5, 0.5], seed 1) stopped: validation return not finite in iteration 4" in caplog.text
    assert result.runs[0].final == _go().runs[0].final
    assert len(result.runs[1].history) == 3
    assert result.runs[1].final == result.runs[1].peak
    assert result.runs[1].final is not None
    assert result.runs[1].final["iteration"] == 2
    quick = Settings(64 * 6, num_envs=4, eval_every=2, eval_episodes=2)
    started = Recorder(Batch(plan_runs(runs, toy(), quick).runs, toy(), quick))
    for _ in range(3):
        started.record(started.batch.iterate())
    for name, tensor in started.records()[1].policy.items():
        assert torch.equal(result.runs[1].policy[name], tensor), name


def test_a_training_whose_last_run_fails_in_validation_is_saved_and_over(tmp_path: Path) -> None:
    def spoil(step: int, reward: torch.Tensor) -> None:
        reward[:] = torch.nan

    options = _with(QUICK, folder=tmp_path, resume=True, checkpoint_every=100)
    for _ in range(2):
        result = _train([Run(tiny(), HALF, 0)], Scripts(_nothing, spoil), 64 * 50, options)
        assert result.runs[0].reason == "validation return not finite in iteration 2"
        assert result.runs[0].final is None
        assert result.runs[0].peak is None
        assert load(tmp_path / "checkpoint.safetensors")[1]["iteration"] == 2


def test_training_ends_when_no_run_is_left() -> None:
    result = _train([Run(tiny(), HALF, 0)], poisoned(0, 4, after=1, place="reward"), 64 * 50, QUICK)
    assert result.runs[0].status == "failed"
    assert result.runs[0].history.empty
    assert result.runs[0].final is None


def test_ctrl_c_saves_and_the_training_can_go_on(tmp_path: Path) -> None:
    class Press:
        def log_scalar(self, name: str, value: float, step: int) -> None:
            if step == 64 * 3 and name == "mu/run0":
                signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    where = re.escape(f"Stopped after iteration 3 of 6: saved in {tmp_path}; resume=True continues it.")
    with pytest.raises(KeyboardInterrupt, match=where):
        _go(options=_with(QUICK, folder=tmp_path, loggers=[Press()]))
    assert signal.getsignal(signal.SIGINT) is before
    assert len(pd.read_csv(tmp_path / "history.csv")) == 6
    _same(_go(), _go(options=_with(QUICK, folder=tmp_path, resume=True)))


def test_a_second_ctrl_c_keeps_the_iteration_before(tmp_path: Path) -> None:
    def press(step: int, reward: torch.Tensor) -> None:
        if step == 16 * 3 + 5:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    options = _with(QUICK, folder=tmp_path, checkpoint_every=100)
    runs = [Run(tiny(), HALF, seed) for seed in (0, 1)]
    with pytest.raises(KeyboardInterrupt):
        _train(runs, replace(toy(), make=Scripts(press, _nothing)), 64 * 6, options)
    assert load(tmp_path / "checkpoint.safetensors")[1]["iteration"] == 3
    _same(_go(), _go(options=_with(options, resume=True)))


class _SimulatorError(Exception):
    pass


@pytest.mark.parametrize("place", ["training", "validation"])
def test_an_environment_that_fails_costs_no_finished_iteration(tmp_path: Path, place: str) -> None:
    at = {"training": 16 * 3 + 5, "validation": 16 + 5}[place]  # in iteration 4, or in the validation that ends it

    def explode(step: int, reward: torch.Tensor) -> None:
        if step == at:
            raise _SimulatorError

    broken = Scripts(explode, _nothing) if place == "training" else Scripts(_nothing, explode)
    options = _with(QUICK, folder=tmp_path, checkpoint_every=100)
    runs = [Run(tiny(), HALF, seed) for seed in (0, 1)]
    with pytest.raises(_SimulatorError):
        _train(runs, replace(toy(), make=broken), 64 * 6, options)
    assert [env.closed for env in broken.opened] == [True, True]
    assert load(tmp_path / "checkpoint.safetensors")[1]["iteration"] == 3
    _same(_go(), _go(options=_with(options, resume=True)))


def test_nothing_is_saved_before_the_first_iteration_is_finished(tmp_path: Path) -> None:
    def explode(step: int, reward: torch.Tensor) -> None:
        raise _SimulatorError

    broken = Scripts(explode, _nothing)
    for _ in range(2):  # the second attempt is not told that the folder holds an earlier training
        with pytest.raises(_SimulatorError):
            _train([Run(tiny(), HALF, 0)], broken, 64, _with(QUICK, folder=tmp_path))


def test_environments_are_closed_at_the_end() -> None:
    worlds = Scripts(_nothing, _nothing)
    _train([Run(tiny(), HALF, 0)], worlds, 64, QUICK)
    assert [env.closed for env in worlds.opened] == [True, True, True]  # training, validation, test


def test_a_folder_changes_no_number(tmp_path: Path) -> None:
    """A Gymnasium batch that is asked for its state before its first episode begins one."""
    options = _with(QUICK, eval_every=3, checkpoint_every=1)
    alone, saved = (
        _train([Run(tiny(), HALF, 0)], "deep-sea-treasure-v0", 64 * 3, _with(options, folder=out))
        for out in (None, tmp_path)
    )
    _same(alone, saved)


def test_trains_outside_the_main_thread() -> None:
    results: list[TrainResult] = []
    thread = threading.Thread(target=lambda: results.append(_go(1)))
    thread.start()
    thread.join()
    assert results[0].runs[0].status == "done"


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")  # PyTorch's own, when its compiler is loaded
def test_a_folder_that_the_linker_cannot_take_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__path__", ["/home/a b/torch"])
    with pytest.raises(ValueError, match="`compile` must be off where PyTorch's own folder has a space in its name"):
        _go(1, _with(QUICK, compile=True))


@pytest.mark.skipif(" " in torch.__path__[0], reason="PyTorch cannot compile from a folder with a space in its name")
def test_compiled_training_is_close_to_the_eager_one_and_keeps_runs_apart() -> None:
    options = _with(QUICK, compile=True)
    eager, first = _go(2), _go(2, options)
    changed = _train([Run(tiny(), HALF, 0), Run(tiny(learning_rate=0.1), (0.2, 0.8), 9)], toy(), 128, options)
    for name, tensor in first.runs[0].policy.items():
        torch.testing.assert_close(tensor, eager.runs[0].policy[name], rtol=1e-2, atol=1e-3)
        assert torch.equal(tensor, changed.runs[0].policy[name])


def test_policies_carry_the_observation_statistics_of_their_moment() -> None:
    source = replace(toy(), normalize_observations=True)
    result = _train([Run(tiny(), HALF, 0)], source, 64 * 4, QUICK)
    run = result.runs[0]
    assert run.policy["observation_mean"].shape == (4,)
    assert run.peak is not None
    same = run.peak["iteration"] == 4
    assert torch.equal(run.policy["observation_mean"], run.peak_policy["observation_mean"]) == same


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seeds": [-1]}, r"`seeds` must be a list of whole numbers >= 0, got \[-1\]"),
        ({"seeds": [0, 1, 0]}, "`seeds` must differ from each other, got 0 twice"),
        (
            {"preferences": [[0.5, 0.5], [0.5, 0.5]]},
            r"`preferences` must differ from each other, got \(0.5, 0.5\) twice",
        ),
        ({"seeds": 0}, "`seeds` must be a list of whole numbers >= 0, got 0"),
        ({"seeds": [True]}, r"`seeds` must be a list of whole numbers >= 0, got \[True\]"),
        ({"seeds": []}, "`seeds` must hold at least one seed, got none"),
        ({"preferences": [0.5, 0.5]}, r"`preferences` must be a list of lists of numbers, .* got \[0.5, 0.5\]"),
        ({"preferences": 1}, "`preferences` must be a list of lists of numbers, .* got 1"),
        ({"preferences": ["ab"]}, r"`preferences` must be a list of lists of numbers, .* got \['ab'\]"),
        ({"preferences": []}, "`preferences` must hold at least one preference, got none"),
        ({"preferences": [HALF, [0.5, 0.3, 0.2]]}, "`preferences` must all have the same length, got 2 and 3"),
        ({"recipe": "PASTA"}, "`recipe` must be a Recipe, such as morl_recipes.PASTA, got 'PASTA'"),
        ({"env": "CartPole-v1"}, "`env` must have a vector reward, got 'CartPole-v1'"),
        ({"env": "fishwood-v0"}, "`env` must have a time limit, got 'fishwood-v0'.* horizon=200"),
        ({"device": "tpu"}, "`device` must be one that PyTorch finds here, got 'tpu'"),
        ({"loggers": 3}, "`loggers` must be a list of TorchRL loggers, .* got 3"),
        ({"loggers": ["csv"]}, r"`loggers` must be a list of TorchRL loggers, .* got \['csv'\]"),
        ({"total_steps": 64.0}, "`total_steps` must be a whole number >= 1, got 64.0"),
        ({"num_envs": "8"}, "`num_envs` must be a whole number >= 1, got '8'"),
        ({"preferences": [[0.5, 0.4]]}, "`preferences` must sum to 1"),
        ({"resume": True}, "`out` must be given to resume"),
        ({"env": 3}, "`env` must be a name, a card, an EnvSource or a function"),
    ],
)
def test_bad_arguments_are_named(given: dict[str, Any], message: str) -> None:
    usual = {"recipe": PASTA, "env": toy(), "preferences": [HALF], "seeds": [0], "total_steps": 64, "progress": False}
    refused(message, train, **{**usual, **given})


def test_unknown_argument_of_train_runs_is_named() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'resum'"):
        train_runs([Run(tiny(), HALF, 0)], toy(), resum=True)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ValueError, match=r"`out` must be a folder, got a file or a path below one: .*file"):
            _go(1, _with(QUICK, folder=out))


@pytest.mark.parametrize("seeds", [np.arange(2), torch.arange(2), (np.int64(0), 1)])
def test_numbers_of_numpy_and_torch_are_numbers(seeds: Any, tmp_path: Path) -> None:
    four, two = np.int64(4), np.int32(2)
    result = train(
        tiny(steps_per_iteration=np.int64(64)),
        toy(),
        torch.tensor([HALF]),  # type: ignore[arg-type]
        seeds,
        np.int64(128),  # type: ignore[arg-type]
        out=tmp_path,
        num_envs=four,
        eval_every=two,
        eval_episodes=two,
        progress=False,
    )
    _same(_go(2), result)


def test_a_function_is_an_environment() -> None:
    def world(num_envs: int, seeds: Sequence[int]) -> ToyBatch:
        return ToyBatch(num_envs, seeds)

    result = train(tiny(), world, [HALF], [0], 64, num_envs=4, progress=False)
    assert result.env == "world"
    assert result.runs[0].peak is not None
    assert np.isnan(result.runs[0].peak["hv"])  # no bounds: judged by expected utility
