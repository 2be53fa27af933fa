from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from morl_blocks import schedulers
from morl_blocks.ppo import Actor, CategoricalActor, UnitBoxGaussianActor, unit_box_to_action
from morl_envs.toy import toy
from morl_recipes import PASTA, PPO, train
from morl_recipes.common.errors import StoreError
from morl_recipes.evaluation.saved_policy import SavedPolicy, acting
from morl_recipes.recipe.spec import KINDS, AnySpec, Spec, as_spec, spec
from morl_recipes.recipe.specs import Actor as ActorSpec
from morl_recipes.running.play import play
from morl_recipes.running.result import TrainResult
from morl_recipes.running.stored_runs import find_run, load_policy
from morl_recipes.running.test_scores import test_store as play_store
from morl_recipes.store.run_folder import read_tests
from morl_recipes.store.store import Store


def _trained(folder: Path, actor: AnySpec, mu: AnySpec | None = PASTA.mu, test_episodes: int = 0) -> TrainResult:
    recipe = replace(PASTA, actor=actor, mu=mu, ppo=PPO(steps_per_iteration=64, epochs=1))
    options: dict[str, Any] = {"num_envs": 4, "eval_episodes": 1, "progress": False, "test_episodes": test_episodes}
    return train(recipe, toy(), [[0.5, 0.5]], seeds=[0], total_steps=64, out=folder, **options)


LOW, HIGH = torch.tensor([-1.0, 0.0]), torch.tensor([1.0, 4.0])


def test_the_mean_is_mapped_to_the_action_space() -> None:
    actor = UnitBoxGaussianActor(4, 2, 2, hidden=8)
    observation, preference = torch.randn(6, 4), torch.rand(6, 2)
    mean, _ = actor(observation, preference)
    action = SavedPolicy(actor.state_dict(), 2, LOW, HIGH)(observation, preference)
    torch.testing.assert_close(action, LOW + mean * (HIGH - LOW))


def test_observations_are_scaled_as_in_training() -> None:
    actor = UnitBoxGaussianActor(3, 2, 2, hidden=8)
    scale = {"observation_mean": torch.tensor([1.0, 2.0, 3.0]), "observation_variance": torch.tensor([4.0, 1.0, 1e-12])}
    policy = SavedPolicy({**actor.state_dict(), **scale}, 2, LOW, HIGH)
    plain = SavedPolicy(actor.state_dict(), 2, LOW, HIGH)
    preference = torch.tensor([[0.5, 0.5]])
    seen = policy(torch.tensor([[3.0, 2.5, 99.0]]), preference)
    torch.testing.assert_close(seen, plain(torch.tensor([[1.0, 0.5, 10.0]]), preference))  # the last one is clipped


def test_discrete_policies_choose_the_largest_logit() -> None:
    actor = CategoricalActor(4, 2, 3, hidden=8)
    observation = torch.randn(6, 4)
    policy = acting(SavedPolicy(actor.state_dict(), 2, None, None), (0.25, 0.75))
    expected = actor(observation, torch.tensor([0.25, 0.75])).argmax(-1)
    assert torch.equal(policy(observation), expected)


def test_the_preference_matters() -> None:
    policy = SavedPolicy(UnitBoxGaussianActor(4, 2, 2).state_dict(), 2, LOW, HIGH)
    observation = torch.randn(1, 4)
    assert not torch.equal(acting(policy, (1.0, 0.0))(observation), acting(policy, (0.0, 1.0))(observation))


def test_foreign_tensors_are_refused() -> None:
    tensors = UnitBoxGaussianActor(4, 2, 2).state_dict()
    with pytest.raises(RuntimeError, match="Unexpected key"):
        SavedPolicy({**tensors, "extra": torch.zeros(1)}, 2, LOW, HIGH)


def test_a_small_file_that_describes_a_large_network_takes_no_memory() -> None:
    wide = {"trunk.0.weight": torch.zeros(200_000, 4), "mean.bias": torch.zeros(2)}  # its second layer has 160 GB
    with pytest.raises(RuntimeError, match="Missing key"):
        SavedPolicy(wide, 2, LOW, HIGH)


class Straight(Actor):
    """A linear actor of a user's own, which says little about itself."""

    def __init__(self, observation_dim: int, num_objectives: int, action_dim: int) -> None:
        super().__init__()
        self.noise_dim = action_dim
        self.layer = nn.Linear(observation_dim + num_objectives, action_dim)

    def forward(self, observation: Tensor, preference: Tensor) -> Tensor:
        inputs = torch.cat([observation, preference.expand(*observation.shape[:-1], -1)], -1)
        output: Tensor = self.layer(inputs)
        return output

    def sample(self, output: Tensor, noise: Tensor) -> Tensor:
        return output + 0.1 * noise

    def mode(self, output: Tensor) -> Tensor:
        return output

    def log_prob(self, output: Tensor, action: Tensor) -> Tensor:
        return -(10 * (action - output)).square().sum(-1) / 2

    def entropy(self, output: Tensor) -> Tensor:
        return torch.zeros(output.shape[:-1])


@pytest.mark.parametrize("actor", [ActorSpec(activation="ReLU", depth=1, hidden=8), spec(Straight)()], ids=repr)
def test_another_actor_comes_back_as_it_was_trained(actor: Spec, tmp_path: Path) -> None:
    result = _trained(tmp_path / "store", actor)
    env: Any = toy().make(1, [0])
    observation, preference = torch.randn(5, env.observation_dim), torch.tensor([[0.5, 0.5]])
    live = actor.build(env.observation_dim, 2, env.action_dim)
    live.load_state_dict(result.runs[0].peak_policy)
    expected = unit_box_to_action(
        live.mode(live(observation, preference.expand(5, 2))), env.action_low, env.action_high
    )
    torch.testing.assert_close(result.policy(0)(observation, preference), expected)
    store = Store.open(tmp_path / "store")
    loaded = load_policy(store, find_run(store), "peak", env)
    torch.testing.assert_close(loaded(observation, preference), expected)


def test_an_actor_of_a_file_that_was_not_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _trained(tmp_path / "store", spec(Straight)())
    monkeypatch.delitem(KINDS, "Straight")
    with pytest.raises(StoreError, match=r"in Python, import the file that defines it, .*, got Straight"):
        play(tmp_path / "store", env=toy(), episodes=1)


class Shifted(Straight):
    """One with a tensor beside its parameters, and a parameter that is called like a statistic."""

    def __init__(self, observation_dim: int, num_objectives: int, action_dim: int) -> None:
        super().__init__(observation_dim, num_objectives, action_dim)
        self.observation_gain, self.shift = nn.Parameter(torch.ones(observation_dim)), torch.tensor(0.3)

    def forward(self, observation: Tensor, preference: Tensor) -> Tensor:
        return super().forward(observation * self.observation_gain + self.shift, preference)


@pytest.mark.parametrize("actor", [ActorSpec(activation="ReLU"), spec(Shifted)()], ids=repr)
@pytest.mark.parametrize("live", [False, True])
def test_a_store_plays_and_tests_the_actor_of_its_recipe(actor: Spec, live: bool, tmp_path: Path) -> None:
    """Also beside a live block, with which a recipe is kept as text."""
    mu = as_spec(schedulers.Fixed(2.0)) if live else PASTA.mu
    result = _trained(tmp_path / "store", actor, mu, test_episodes=3)
    env: Any = toy().make(1, [0])
    observation, preference = torch.randn(5, env.observation_dim), torch.tensor([[0.5, 0.5]])
    store = Store.open(tmp_path / "store")
    loaded = load_policy(store, find_run(store), "peak", env)
    torch.testing.assert_close(loaded(observation, preference), result.policy(0)(observation, preference))
    (run,) = store.run_ids()
    trained = store.read(run)["test_peak"]
    play_store(store, 4, progress=False, env=toy())
    play_store(store, 3, progress=False, env=toy())
    assert read_tests(store.folder(run), store.read(run))["test_peak"] == trained


def test_a_live_actor_is_refused_and_not_taken_for_another(tmp_path: Path) -> None:
    live = UnitBoxGaussianActor(4, 2, 2, activation=nn.ReLU)
    _trained(tmp_path / "store", as_spec(live))
    with pytest.raises(StoreError, match=r"`actor` must be a spec to be played .*got a live UnitBoxGaussianActor"):
        play(tmp_path / "store", env=toy(), episodes=1)
    with pytest.raises(StoreError, match=r"`actor` must be a spec to be played .*got a live UnitBoxGaussianActor"):
        play_store(tmp_path / "store", 2, progress=False, env=toy())
