from pathlib import Path
from typing import Any

import gymnasium
import pytest
import torch

from morl_envs.cards import CARDS
from morl_envs.source import EnvSource, find_source
from morl_envs.toy import ToyBatch, toy
from morl_recipes import Run, Settings, train_runs
from tests.morl_recipes.worlds import tiny
from tests.refusals import refused

QUICK = Settings(total_steps=128, num_envs=4, test_episodes=2, compile=False)


def test_names_cards_ids_and_functions_are_found() -> None:
    for env in ("stealth", CARDS["stealth"]):
        source = find_source(env)
        assert source.name == "stealth"
        assert source.hv_low == CARDS["stealth"].hv_low
        assert not source.normalize_observations
    assert find_source("mo-halfcheetah-v5").normalize_observations
    assert find_source("Deep-Sea-Treasure-V0").card is CARDS["deep-sea-treasure-v0"]
    assert find_source("morl_envs/CrazyflieFrogger-v0").name == "frogger"
    registered = find_source("MO-MountainCar-v0")  # without a card
    assert (registered.name, registered.hv_low) == ("mo-mountaincar-v0", None)
    assert registered.make(2, [0, 1]).reset_tensors().shape == (2, 2)
    source = toy()
    assert find_source(source) is source
    assert source.bounds == ((0.0, 0.0), (16.0, 16.0))
    assert find_source(ToyBatch).name == "ToyBatch"
    assert isinstance(find_source(lambda n, s: ToyBatch(n, s)), EnvSource)


def test_toy_world_pays_the_printed_reward_and_ends_at_its_horizon() -> None:
    env, other = ToyBatch(2, [0, 1], horizon=3), ToyBatch(2, [5, 6], horizon=3)
    env.reset_tensors()
    for step in range(1, 4):
        other.set_state(env.get_state())
        results = [each.step_tensors(torch.tensor([[1.0, 0.0], [0.0, 0.0]])) for each in (env, other)]
        assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))
        _, reward, terminated, truncated = results[0]
        assert reward.tolist() == [[1.0, 0.5], [0.75, 0.75]]
        assert truncated.flatten().tolist() == [step == 3] * 2
        assert not terminated.any()
    assert env.reset_tensors(torch.tensor([[True], [False]]))[:, -1].tolist() == [0.0, 1.0]
    refused("`seeds` must hold 2 numbers, got 1", ToyBatch, 2, [0])
    refused("`action_dim` must be at least the number of objectives", ToyBatch, 1, [0], objectives=3)


GRID = """
import gymnasium, numpy as np
from gymnasium.spaces import Box, Discrete

class Line(gymnasium.Env):
    observation_space, action_space, reward_space = Discrete(5), Discrete(2), Box(-1.0, 1.0, (2,))
    horizon, objectives = 6, ("right", "left")

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 2
        return self.place, {}

    def step(self, action):
        self.place = min(4, max(0, self.place + 2 * int(action) - 1))
        return self.place, np.array([action, 1 - action], np.float32), False, False, {}

    def render(self):
        return np.zeros((2, 5, 3), np.uint8)

def make_env():
    return Line()

def make_batches(num_envs, seeds):
    from morl_envs.toy import ToyBatch
    return ToyBatch(num_envs, seeds)

from morl_recipes import EnvSource
SOURCE = EnvSource("ignored", make_batches, hv_low=(0.0, 0.0), hv_high=(16.0, 16.0))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_env.py").write_text(GRID)
    return tmp_path


@pytest.mark.parametrize("name", ["make_env", "Line"])
def test_a_gymnasium_environment_in_a_file(folder: Path, name: str) -> None:
    source = find_source(f"my_env.py:{name}", folder=folder)
    assert (source.name, source.objectives, source.horizon) == (f"my_env.py:{name}", ("right", "left"), 6)
    assert source.preferences == ((0.5, 0.5),)
    assert source.observation_dim == 5
    assert source.plugin is not None
    assert source.plugin.source == GRID
    env = source.make(2, [0, 1])
    assert env.reset_tensors().tolist() == [[0, 0, 1, 0, 0]] * 2
    assert env.step_tensors(torch.tensor([0, 1]))[1].tolist() == [[0, 1], [1, 0]]
    assert (source.draw is not None) == (name == "Line")


def test_files_hold_tensor_environments_and_sources_travel_and_train(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    batches, own = (find_source(f"{folder}/my_env.py:{name}") for name in ("make_batches", "SOURCE"))
    assert batches.objectives == own.objectives == ("corner 0", "corner 1")
    assert (batches.bounds, own.bounds) == (None, ((0.0, 0.0), (16.0, 16.0)))
    assert (batches.name, own.name) == ("my_env.py:make_batches", "my_env.py:SOURCE")
    source = find_source("my_env.py:make_env", folder=folder)
    assert train_runs([Run(tiny(), (0.5, 0.5), 0)], source, QUICK, progress=False).runs[0].status == "done"
    assert source.plugin is not None
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    refused("cannot be read", find_source, "my_env.py:Line", folder=elsewhere)
    travelled = find_source("my_env.py:Line", plugins=[source.plugin], folder=elsewhere)
    assert travelled.objectives == ("right", "left")


def test_what_an_environment_needs_and_does_not_find_is_an_import_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise gymnasium.error.DependencyNotInstalled("Box2D is not installed")

    monkeypatch.setattr("gymnasium.make", fail)
    with pytest.raises(ImportError, match="mo-lunar-lander-v3 cannot be made: Box2D is not installed"):
        find_source("mo-lunar-lander-v3")


def test_a_source_knows_what_a_plan_needs_and_completes_itself_once() -> None:
    card, source = CARDS["mo-ant-v5"], find_source("mo-ant-v5")
    assert (source.objectives, source.preferences, source.horizon) == (card.objectives, card.preferences, 1000)
    assert (source.extra, source.observation_dim, source.plugin) == ("mujoco", 105, None)
    plain = find_source("mo-mountaincar-v0")
    assert (plain.objectives[0], plain.preferences) == ("objective_0", ((1 / 3, 1 / 3, 1 / 3),))
    assert (plain.horizon, plain.extra, plain.hv_high) == (200, None, None)
    source = EnvSource("mine", ToyBatch)
    assert source.objectives == ()
    full = source.complete()
    assert (full.objectives, full.horizon, full.observation_dim) == (("corner 0", "corner 1"), 16, 4)
    assert full.complete() is full
    refused("`objectives` must name the 2 objectives", EnvSource("mine", ToyBatch, objectives=("one",)).complete)
    treasure = find_source("deep-sea-treasure-v0")  # can be filmed
    assert treasure.draw is not None
    assert find_source(ToyBatch).draw is None


def test_bad_environments_are_refused_before_anything_is_trained() -> None:
    refused("`env` must be a known environment, got 'stelth'. Nearest: stealth", find_source, "stelth")
    refused("`env` must have a vector reward, got 'CartPole-v1', which has no", find_source, "CartPole-v1")
    refused("`env` must have a time limit, got 'fishwood-v0'", find_source, "fishwood-v0")
    nothing: Any = lambda n, seeds: {}  # noqa: E731
    refused("`env` must open a TensorEnv, .* got dict", find_source(nothing).complete)
