import logging
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from morl_envs.toy import ToyBatch, toy
from morl_recipes import PASTA, PPO, ROWS, EnvSource, Recipe, Run, Settings, train, train_runs
from morl_recipes.learning.batch import Batch
from morl_recipes.recipe.settings import NAMES
from morl_recipes.running.plan import plan_runs
from morl_recipes.running.recorder import Recorder
from morl_recipes.running.result import TrainResult
from morl_recipes.store.checkpoint import CheckpointError, load
from tests.morl_recipes.running.fakes import Press, same_runs
from tests.morl_recipes.worlds import Scripts, poisoned, tiny
from tests.refusals import refused

HALF = (0.5, 0.5)
QUICK: dict[str, Any] = {"num_envs": 4, "progress": False, "eval_every": 2, "eval_episodes": 2, "checkpoint_every": 2}


def _train(runs: Sequence[Run], env: Any, total_steps: int, **options: Any) -> TrainResult:
    options = {**QUICK, **options}
    settings = {name: options.pop(name) for name in NAMES if name in options}
    return train_runs(runs, env, Settings(total_steps=total_steps, **settings), **options)


def _go(iterations: int = 6, env: Any = None, seeds: Sequence[int] = (0, 1), **options: Any) -> TrainResult:
    return _train([Run(tiny(), HALF, seed) for seed in seeds], env or toy(), 64 * iterations, **options)


@pytest.fixture(scope="module")
def whole() -> TrainResult:
    """A training that nothing interrupts."""
    return _go()


def test_result_has_one_run_per_preference_and_seed() -> None:
    result = train(tiny(), toy(), [[0.5, 0.5], [0.1, 0.9]], [0, 7], 130, **QUICK)
    pairs = [(preference, seed) for preference in (HALF, (0.1, 0.9)) for seed in (0, 7)]
    assert [(run.preference, run.seed) for run in result.runs] == pairs
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
    layers = ("trunk.0", "trunk.2", "mean")
    assert set(run.policy) == {"log_std", *(f"{n}.{k}" for n in layers for k in ("weight", "bias"))}
    assert list(result.summary()["seed"]) == [0, 7, 0, 7]


def _learn(row: Recipe, preferences: Sequence[Sequence[float]], seeds: Sequence[int], iterations: int) -> TrainResult:
    ppo = PPO(steps_per_iteration=512, epochs=10, learning_rate=3e-3, entropy_coefficient=0.0)
    steps = 512 * iterations
    return train(replace(row, ppo=ppo), toy(), preferences, seeds, steps, progress=False, eval_every=iterations)


def test_pasta_learns_the_toy_world() -> None:
    """The linear optimum of equal weights earns 0.875 per step and objective: 14 per episode; random actions, 9."""
    for run in _learn(PASTA, [HALF], [0, 1, 2], 25).runs:
        assert run.final is not None
        assert run.final["eu"] > 0.95 * 14, run.final


def test_linear_learns_and_follows_the_preference() -> None:
    """The optimum of weights (w, 1 - w) is the action (w, 1 - w)."""
    for index, run in enumerate(_learn(ROWS["baselines"]["Linear"], [[0.9, 0.1], [0.1, 0.9]], [0], 30).runs):
        assert run.final is not None
        assert run.final["returns"][index] > run.final["returns"][1 - index] + 1


class _StopError(Exception):
    pass


def _nothing(step: int, reward: torch.Tensor) -> None:
    pass


def _fail() -> None:
    raise _StopError


def _interrupt(times: int = 1) -> None:
    for _ in range(times):
        signal.raise_signal(signal.SIGINT)


def _worlds(act: Callable[[], object], at: int, *, validation: bool = False) -> Scripts:
    def script(step: int, reward: torch.Tensor) -> None:
        if step == at:
            act()

    return Scripts(_nothing, script) if validation else Scripts(script, _nothing)


@pytest.mark.parametrize(
    ("place", "at", "act", "finished"),
    [
        ("logger", 5, _fail, 5),
        ("logger", 3, _interrupt, 3),
        ("training", 16 * 3 + 5, partial(_interrupt, 2), 3),  # the second interrupt does not wait
        ("training", 16 * 3 + 5, _fail, 3),
        ("validation", 16 + 5, _fail, 3),  # the validation of iteration 4
    ],
)
def test_interrupted_training_keeps_finished_iterations_and_resumes_bit_by_bit(
    tmp_path: Path, whole: TrainResult, place: str, at: int, act: Callable[[], object], finished: int
) -> None:
    before = signal.getsignal(signal.SIGINT)
    worlds = _worlds(act, 10**9 if place == "logger" else at, validation=place == "validation")
    loggers = [Press(act, at)] if place == "logger" else []
    options: dict[str, Any] = {"folder": tmp_path / "run", "checkpoint_every": 100}
    with pytest.raises(_StopError if act is _fail else KeyboardInterrupt) as error:
        _go(env=replace(toy(), make=worlds), loggers=loggers, **options)
    assert signal.getsignal(signal.SIGINT) is before
    if act is _interrupt:
        where = f"saved in {tmp_path / 'run'}; resume=True continues it."
        assert str(error.value) == f"Stopped after iteration 3 of 6: {where}"
    assert [env.closed for env in worlds.opened] == [True, True]
    assert load(tmp_path / "run" / "checkpoint.safetensors")[1]["iteration"] == finished
    assert len(pd.read_csv(tmp_path / "run" / "history.csv")) == 2 * finished
    for _ in range(2):  # the second time, nothing is left to do
        same_runs(whole.runs, _go(resume=True, **options).runs)
        table = pd.read_csv(tmp_path / "run" / "history.csv")
        assert table["iteration"].tolist() == [k for k in range(1, 7) for _ in range(2)]


def test_training_that_fails_before_its_first_checkpoint_can_start_again(tmp_path: Path) -> None:
    for _ in range(2):  # the second attempt is not told that the folder holds an earlier training
        with pytest.raises(_StopError):
            _go(1, _worlds(_fail, 1), folder=tmp_path)


def test_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    options: dict[str, Any] = {"folder": tmp_path, "resume": True}
    _go(2, **options)
    changes: list[tuple[dict[str, Any], str]] = [
        ({"iterations": 3}, "`total_steps`: stored 128, given 192"),
        ({"seeds": (0, 5)}, r"`seeds\[1\]`: stored 1, given 5"),
        ({"seeds": (0, 1, 2)}, "`runs`: stored 2, given 3"),
        ({"env": toy(horizon=32)}, "`env.horizon`: stored 16, given 32"),
    ]
    for changed, message in changes:
        with pytest.raises(CheckpointError, match=f"same training, got another {message}"):
            _go(**{"iterations": 2, **options, **changed})
    refused("`out` must hold no earlier training", _go, 2, folder=tmp_path)
    refused("`out` must be given to resume", _go, 2, resume=True)


def test_environment_state_that_does_not_fit_is_a_checkpoint_error(tmp_path: Path) -> None:
    def bare(num_envs: int, seeds: Sequence[int]) -> ToyBatch:
        env = ToyBatch(num_envs, seeds)
        env.get_state, env.set_state = dict, id  # type: ignore[method-assign,assignment]
        return env

    _go(2, EnvSource("toy", bare), folder=tmp_path)
    with pytest.raises(CheckpointError, match=r"`.*checkpoint.safetensors` must fit this training, got 'seed'"):
        _go(2, EnvSource("toy", ToyBatch), folder=tmp_path, resume=True)


def test_failed_run_is_reported_and_the_others_finish(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="morl_recipes"):
        done, failed = _go(8, poisoned(1, 4, after=70, place="reward"), eval_episodes=3).runs
    assert (done.status, failed.status) == ("done", "failed")
    assert failed.reason == "reward not finite in iteration 5"
    assert f"Run 1 (preference [0.5, 0.5], seed 1) stopped: {failed.reason}" in caplog.text
    assert (len(done.history), len(failed.history)) == (8, 4)
    assert failed.final is not None
    assert failed.final["iteration"] == 4
    assert all(bool(tensor.isfinite().all()) for tensor in failed.policy.values())


@pytest.mark.parametrize(("objective", "value"), [(0, float("nan")), (1, float("inf"))])
def test_validation_return_that_is_not_finite_stops_its_run_alone(
    whole: TrainResult, objective: int, value: float, caplog: pytest.LogCaptureFixture
) -> None:
    def spoil(step: int, reward: torch.Tensor) -> None:
        if step > 16:  # from the second validation on, which ends iteration 4
            reward[2:, objective] = value

    with caplog.at_level(logging.WARNING, logger="morl_recipes"):
        done, failed = _go(env=replace(toy(), make=Scripts(_nothing, spoil))).runs
    assert (done.status, failed.status) == ("done", "failed")
    assert failed.reason == "validation return not finite in iteration 4"
    assert failed.reason in caplog.text
    assert done.final == whole.runs[0].final
    assert len(failed.history) == 3
    assert failed.final == failed.peak
    assert failed.final is not None
    assert failed.final["iteration"] == 2
    quick = Settings(64 * 6, num_envs=4, eval_every=2, eval_episodes=2)
    planned = plan_runs([Run(tiny(), HALF, seed) for seed in (0, 1)], toy(), quick).runs
    started = Recorder(Batch(planned, toy(), quick))
    for _ in range(3):
        started.record(started.batch.iterate())
    for name, tensor in started.records()[1].policy.items():
        assert torch.equal(failed.policy[name], tensor), name


def test_training_ends_and_is_saved_when_no_run_is_left(tmp_path: Path) -> None:
    def spoil(step: int, reward: torch.Tensor) -> None:
        reward[:] = torch.nan

    options: dict[str, Any] = {"folder": tmp_path, "resume": True, "checkpoint_every": 100}
    for _ in range(2):
        (run,) = _go(50, Scripts(_nothing, spoil), (0,), **options).runs
        assert (run.reason, run.final, run.peak) == ("validation return not finite in iteration 2", None, None)
        assert load(tmp_path / "checkpoint.safetensors")[1]["iteration"] == 2
    (run,) = _go(50, poisoned(0, 4, after=1, place="reward"), (0,)).runs
    assert (run.status, run.final, run.history.empty) == ("failed", None, True)


def test_environments_are_closed_at_the_end() -> None:
    worlds = Scripts(_nothing, _nothing)
    _go(1, worlds)
    assert [env.closed for env in worlds.opened] == [True, True, True]  # training, validation, test


def test_folder_changes_no_number(tmp_path: Path) -> None:
    """A Gymnasium batch that is asked for its state before its first episode begins one."""
    options: dict[str, Any] = {"env": "deep-sea-treasure-v0", "seeds": (0,), "eval_every": 3, "checkpoint_every": 1}
    same_runs(_go(3, **options).runs, _go(3, folder=tmp_path, **options).runs)


def test_training_works_outside_the_main_thread() -> None:
    results: list[TrainResult] = []
    thread = threading.Thread(target=lambda: results.append(_go(1)))
    thread.start()
    thread.join()
    assert results[0].runs[0].status == "done"


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")  # PyTorch's own, when its compiler is loaded
def test_compiler_in_a_folder_with_a_space_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__path__", ["/home/a b/torch"])
    refused("`compile` must be off where PyTorch's own folder has a space in its name", _go, 1, compile=True)


@pytest.mark.skipif(" " in torch.__path__[0], reason="PyTorch cannot compile from a folder with a space in its name")
def test_compiled_training_is_close_to_the_eager_one_and_keeps_runs_apart() -> None:
    eager, first = _go(2), _go(2, compile=True)
    other = [Run(tiny(), HALF, 0), Run(tiny(learning_rate=0.1), (0.2, 0.8), 9)]
    changed = _train(other, toy(), 128, compile=True)
    for name, tensor in first.runs[0].policy.items():
        torch.testing.assert_close(tensor, eager.runs[0].policy[name], rtol=1e-2, atol=1e-3)
        assert torch.equal(tensor, changed.runs[0].policy[name])


def test_policies_carry_the_observation_statistics_of_their_moment() -> None:
    (run,) = _go(4, replace(toy(), normalize_observations=True), (0,)).runs
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
        ({"seeds": []}, "`seeds` must hold at least one seed, got none"),
        ({"preferences": [0.5, 0.5]}, r"`preferences` must be a list of lists of numbers, .* got \[0.5, 0.5\]"),
        ({"preferences": []}, "`preferences` must hold at least one preference, got none"),
        ({"preferences": [HALF, [0.5, 0.3, 0.2]]}, "`preferences` must all have the same length, got 2 and 3"),
        ({"recipe": "PASTA"}, "`recipe` must be a Recipe, such as morl_recipes.PASTA, got 'PASTA'"),
        ({"env": "CartPole-v1"}, "`env` must have a vector reward, got 'CartPole-v1'"),
        ({"env": "fishwood-v0"}, "`env` must have a time limit, got 'fishwood-v0'.* horizon=200"),
        ({"device": "tpu"}, "`device` must be one of this machine, .*got 'tpu'"),
        ({"loggers": ["csv"]}, r"`loggers` must be a list of TorchRL loggers, .* got \['csv'\]"),
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


def test_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        refused(r"`out` must be a folder, got a file or a path below one: .*file", _go, 1, folder=out)


@pytest.mark.parametrize("seeds", [np.arange(2), torch.arange(2), (np.int64(0), 1)])
def test_numbers_of_numpy_and_torch_are_accepted(seeds: Any, tmp_path: Path) -> None:
    numbers: dict[str, Any] = {"num_envs": np.int64(4), "eval_every": np.int32(2), "eval_episodes": np.int32(2)}
    numbers |= {"preferences": torch.tensor([HALF]), "total_steps": np.int64(128)}
    recipe = tiny(steps_per_iteration=np.int64(64))
    result = train(recipe, toy(), seeds=seeds, out=tmp_path, progress=False, **numbers)
    same_runs(_go(2).runs, result.runs)


def test_function_is_accepted_as_environment() -> None:
    def world(num_envs: int, seeds: Sequence[int]) -> ToyBatch:
        return ToyBatch(num_envs, seeds)

    result = train(tiny(), world, [HALF], [0], 64, num_envs=4, progress=False)
    assert result.env == "world"
    assert result.runs[0].peak is not None
    assert np.isnan(result.runs[0].peak["hv"])  # no bounds: judged by expected utility
