"""The protocols' data: complete, as published, and right about what may be compared."""

import warnings

import gymnasium
import mo_gymnasium  # noqa: F401 - registers its environments
import numpy as np
import pytest

from morl_blocks.metrics import front_hypervolume
from morl_envs import CARDS, exact_front
from morl_recipes import protocol, published_fronts
from morl_recipes.recipe.protocols import Task
from tests.refusals import refused

TASKS = [task for name in ("A", "B", "exact") for task in protocol(name).tasks]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.protocol}-{task.env}")
def test_a_task_describes_an_environment_that_runs_here(task: Task) -> None:
    assert task.env in CARDS or gymnasium.spec(task.env).max_episode_steps == task.horizon
    if task.env in CARDS:
        card = CARDS[task.env]
        assert len(card.objectives) == task.objectives
        assert (card.horizon == task.horizon) or not task.comparable
    assert len(task.reference) == task.objectives
    assert task.grid().shape == (task.weights, task.objectives)
    assert 0 < task.gamma <= 1
    assert task.reason


def test_the_protocols_differ_as_published() -> None:
    a, b = protocol("A").task("mo-hopper-2obj-v5"), protocol("B").task("mo-hopper-2obj-v5")
    assert (a.gamma, a.reference, a.horizon, a.weights, a.steps) == (1.0, (0, 0), 500, 201, 3_000_000)
    assert (b.gamma, b.reference, b.horizon, b.weights, b.steps) == (0.99, (-100, -100), 1000, 101, 1_500_000)
    assert protocol("exact").task("deep-sea-treasure-v0").reference == (0, -50)
    assert protocol("exact").task("Deep-Sea-Treasure-v0").steps is None


def test_published_values_are_in_plain_units_and_every_one_belongs_to_a_task_and_back() -> None:
    frame = published_fronts().set_index(["protocol", "environment", "metric", "method"])
    assert list(frame.loc[("A", "Hopper-3d", "HV", "COLA"), ["value", "deviation"]]) == [3.41e10, 0.04e10]
    assert frame.loc[("B", "Ant-2d", "EUM", "GPI-LS"), "value"] == 428
    assert frame.loc["B"]["deviation"].isna().all()
    assert frame.index.is_unique
    assert frame["source"].str.len().gt(5).all()
    assert {pair[:2] for pair in frame.index} == {(task.protocol, task.name) for task in TASKS}


def test_numbers_of_another_environment_are_never_handed_out() -> None:
    assert not any(task.comparable for task in protocol("A").tasks)
    frame = published_fronts()
    for task in TASKS:
        if task.comparable:
            own = (frame["protocol"] == task.protocol) & (frame["environment"] == task.name)
            assert len(task.published()) == own.sum()
        else:
            refused(rf"`env` must be comparable with {task.name} of protocol", task.published)


def rewards(env: str, steps: int = 60) -> np.ndarray:
    """Play the same random actions from the same start, up to a fall."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        world = gymnasium.make(env, disable_env_checker=True)
    world.reset(seed=0)
    world.action_space.seed(0)
    earned = []
    for _ in range(steps):
        _, reward, terminated, _, _ = world.step(world.action_space.sample())
        earned.append(np.asarray(reward, np.float64))
        if terminated:
            break
    return np.array(earned)


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("mo-hopper-2d-v4", "mo-hopper-2obj-v5", True),
        ("mo-hopper-v4", "mo-hopper-v5", True),
        ("mo-ant-2d-v4", "mo-ant-2obj-v5", False),
        ("mo-ant-v4", "mo-ant-v5", False),
        ("mo-humanoid-v4", "mo-humanoid-v5", False),
    ],
)
def test_a_new_version_is_comparable_where_it_rewards_as_the_old_one(old: str, new: str, same: bool) -> None:
    before, after = rewards(old), rewards(new)
    last = min(len(before), len(after)) - 1
    assert (np.abs(before[:last] - after[:last]).max() <= 1e-5) == same
    assert protocol("B").task(new).comparable == same
    if same:  # except for the reward of being alive, which the fall loses
        np.testing.assert_allclose(after[last], before[last] - 1, atol=1e-5)
    else:
        assert protocol("B").task(old).comparable


@pytest.mark.parametrize("task", protocol("exact").tasks, ids=lambda task: task.env)
def test_the_volumes_of_known_fronts_are_recomputed(task: Task) -> None:
    value = published_fronts().query("protocol == 'exact' and environment == @task.name")["value"].item()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        theirs = gymnasium.make(task.env, disable_env_checker=True).unwrapped.pareto_front(task.gamma)  # type: ignore[attr-defined]
    assert front_hypervolume(theirs, task.reference) == pytest.approx(value, rel=1e-4)
    if task.env == "resource-gathering-v0":  # ours is the better one
        assert front_hypervolume(exact_front(task.env), task.reference) == pytest.approx(4.0)


def test_frames_are_copies_and_bad_names_are_refused() -> None:
    mine = published_fronts()
    mine["value"] = 0.0
    assert published_fronts()["value"].max() == 3.58e10
    assert protocol("B").frame().shape == (10, 12)
    refused(r"`name` must be a protocol \(A, B, exact\), got 'C'", protocol, "C")
    message = r"`env` must be an environment of protocol A \(mo-halfcheetah-v5, .*'stealth'"
    refused(message, protocol("A").task, "stealth")
