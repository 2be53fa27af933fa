import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from morl_envs.plugin import Plugin
from morl_envs.source import EnvSource
from morl_envs.toy import toy
from morl_recipes import Front, train_front
from morl_recipes.learning.batch import Batch
from morl_recipes.learning.diagnostics import Iteration
from morl_recipes.recipe.run import Run
from morl_recipes.recipe.settings import Settings
from morl_recipes.running.fronts.train import adapted, scaled_source
from morl_recipes.running.fronts.warm import inherit, spread
from morl_recipes.running.recorder import Recorder
from tests.morl_recipes.running.fronts.conftest import RECIPE
from tests.refusals import refused

ONE_EACH = adapted(RECIPE, conditioned=False)
SETTINGS: dict[str, Any] = {"num_envs": 4, "eval_episodes": 1, "progress": False}
GRID = [[1.0, 0.0], [0.6, 0.4], [0.0, 1.0]]


def _front(preferences: Any = GRID, seeds: tuple[int, ...] = (3,), warm_start: float = 0.5, **more: Any) -> Front:
    return train_front(
        RECIPE, toy(), preferences, seeds, 128, conditioned=False, warm_start=warm_start, **SETTINGS, **more
    )


def _rounded(asked: list[float]) -> tuple[float, ...]:
    return tuple(round(weight, 6) for weight in asked)


def _policies(front: Front) -> dict[tuple[int, tuple[float, ...]], dict[str, torch.Tensor]]:
    keys = [(front.seeds[k], _rounded(asked)) for k, asked in zip(front.member, front.asked.tolist(), strict=True)]
    return {key: front.policies[k] for key, k in zip(keys, front.member, strict=True)}


def _batch(*runs: tuple[float, int], source: EnvSource | None = None) -> Batch:
    settings = Settings(total_steps=64, num_envs=4, test_episodes=0)
    made = [Run(ONE_EACH, (weight, 1 - weight), seed) for weight, seed in runs]
    return Batch(made, source or toy().complete(), settings)


def test_run_begins_with_its_nearest_neighbour_of_its_seed() -> None:
    source = scaled_source(toy().complete(), normalize=True)
    parents = _batch((1.0, 3), (1.0, 4), (0.0, 3), (0.0, 4), source=source)
    parents.iterate()
    batch = _batch((0.6, 4), (0.2, 3), source=source)
    inherit(batch, parents)
    assert torch.equal(batch.actor.params, parents.actor.params[[1, 2]])
    assert torch.equal(batch.critic.params, parents.critic.params[[1, 2]])
    assert torch.equal(batch.normalizer.high, parents.normalizer.high[[1, 2]])
    assert batch.scale is not None
    assert parents.scale is not None
    assert float(batch.scale.count.min()) > 0
    assert torch.equal(batch.scale.mean, parents.scale.mean[[1, 2]])
    batch.iterate()
    assert not torch.equal(batch.actor.params, parents.actor.params[[1, 2]])


def test_warm_run_depends_on_its_nearest_neighbour_alone() -> None:
    first, second = (_policies(_front([*GRID, other])) for other in ([0.2, 0.8], [0.3, 0.7]))
    for asked in GRID:
        for name, tensor in first[3, tuple(asked)].items():
            assert torch.equal(tensor, second[3, tuple(asked)][name]), (asked, name)


def test_interrupted_warm_start_continues_bit_for_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, iterate, calls = _front(), Batch.iterate, []

    def stopped(batch: Batch) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return iterate(batch)

    monkeypatch.setattr(Batch, "iterate", stopped)
    with pytest.raises(KeyboardInterrupt):
        _front(out=tmp_path / "f")
    again = _front(out=tmp_path / "f", resume=True)
    for key, policy in _policies(whole).items():
        assert all(torch.equal(tensor, _policies(again)[key][name]) for name, tensor in policy.items())
    assert Front.load(tmp_path / "f").points.tolist() == whole.points.tolist()


@pytest.mark.parametrize("name", ["recipe_file", "env_file"])
def test_edited_file_is_refused_on_resume(name: str, tmp_path: Path) -> None:
    def front(text: str) -> Front:
        file = Plugin("mine.py", text)
        source, plugin = (replace(toy(), plugin=file), None) if name == "env_file" else (toy(), file)
        way: dict[str, Any] = {"conditioned": False, "warm_start": 0.5, "resume": True, "plugin": plugin}
        return train_front(RECIPE, source, GRID, [3], 64, out=tmp_path, **way, **SETTINGS)

    whole = front("old = 1")
    assert front("old = 1").points.tolist() == whole.points.tolist()
    refused(rf"must belong to the same training, got another `{name}`", front, "new = 1")


def test_interrupt_at_the_end_of_the_first_phase_stops_before_the_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(recorder: Recorder, iteration: Iteration) -> None:
        signal.raise_signal(signal.SIGINT)
        record(recorder, iteration)

    record = Recorder.record
    monkeypatch.setattr(Recorder, "record", pressed)
    with pytest.raises(KeyboardInterrupt, match=r"Stopped between two trainings: saved in .*first; resume=True"):
        _front(out=tmp_path)


def test_impossible_warm_starts_are_refused() -> None:
    refused(r"`warm_start` must be 0 for one policy of all", train_front, RECIPE, toy(), 3, warm_start=0.5, **SETTINGS)
    refused(r"`warm_start` must", _front, warm_start=1.5)
    refused(r"`retry_failed` must be False for a warm start", _front, retry_failed=True)


def test_first_preferences_are_far_from_each_other() -> None:
    line = torch.stack([torch.linspace(0, 1, 9), 1 - torch.linspace(0, 1, 9)], dim=1)
    assert spread(line, 3) == [0, 4, 8]
    assert spread(line, 20) == list(range(9))
