"""A front plays, keeps and exports the network that it trained."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from morl_blocks.ppo import UnitBoxGaussianActor
from morl_envs import make_batch
from morl_envs.source import find_source
from morl_envs.toy import toy
from morl_recipes import Front, train_front
from morl_recipes.common.errors import StoreError
from morl_recipes.common.seeds import derive
from morl_recipes.evaluation.episodes import FRONT
from morl_recipes.recipe.policy_network import Network
from morl_recipes.recipe.spec import KINDS, AnySpec, Live
from morl_recipes.recipe.specs import Actor, Choices
from morl_recipes.running.play import film_front
from morl_recipes.store.files import seal, unseal
from morl_recipes.store.front import NAME
from tests.morl_recipes.running.actors import OWN, SILENT, Own, Sine
from tests.morl_recipes.running.fronts.conftest import RECIPE
from tests.refusals import refused

QUICK: dict[str, Any] = {"num_envs": 4, "eval_episodes": 2, "progress": False}
OBSERVATION = [0.1, -0.3, 0.2, 0.9]


ACTORS: dict[str, AnySpec] = {
    "activation": Actor(hidden=8, activation="ReLU"),
    "depth": Actor(hidden=8, depth=3),
    "own": OWN,
    "silent": SILENT,
    "live": Live(Own(4, 2, 2)),
    "own activation": Actor(hidden=8, activation=Sine),
}

UNKNOWN = {"live": "a live Own", "own activation": r"Actor\(hidden=8.*Sine"}
"""Actors that no file describes: their front is read and not played."""


def _train(actor: AnySpec, **more: Any) -> Front:
    return train_front(
        replace(RECIPE, actor=actor), toy(), 3, [3, 4], 64, normalize_observations=False, **QUICK, **more
    )


def _played(front: Front, actor: AnySpec, member: int, preference: list[float]) -> Tensor:
    """Return the mean return of the actor itself, in a plain loop."""
    live = actor.build(4, 2, 2)
    bounds = ("action_low", "action_high")
    live.load_state_dict({name: own for name, own in front.policies[member].items() if name not in bounds})
    total = torch.zeros(2)
    for episode in range(2):
        env = toy().make(1, [derive(front.seeds[member], FRONT, episode)])
        observation = env.reset_tensors()
        for _ in range(env.horizon):
            with torch.no_grad():
                unit = live.mode(live(observation, torch.tensor([preference])))
            low, high = (front.policies[member][name] for name in bounds)
            observation, reward, *_ = env.step_tensors(low + unit.clamp(0, 1) * (high - low))
            total += reward[0] / 2
    return total


@pytest.mark.parametrize("name", [*ACTORS])
def test_trained_saved_and_loaded_actor_play_the_same(name: str, tmp_path: Path) -> None:
    front = _train(ACTORS[name])
    front.save(tmp_path)
    for row in (1, 5):
        expected = _played(front, ACTORS[name], int(front.member[row]), front.asked[row].tolist())
        np.testing.assert_allclose(front.returns[row], expected.numpy(), rtol=1e-4, atol=1e-4)
    action = front.policy([0.3, 0.7])(OBSERVATION)
    refused(r"`observation` must have shape \[4\] or \[N, 4\]", front.policy([0.3, 0.7]), OBSERVATION[:3])
    state = torch.get_rng_state()
    again = Front.load(tmp_path)
    np.testing.assert_array_equal(again.returns, front.returns)
    if name in UNKNOWN:
        refused(f"`actor` must be a spec to be played from a file, .*, got {UNKNOWN[name]}", again.policy, [0.5, 0.5])
        again.save(tmp_path / "again")
        assert Front.load(tmp_path / "again").network == again.network
    else:
        assert again.network == front.network
        np.testing.assert_array_equal(again.policy([0.3, 0.7])(OBSERVATION), action)
    assert torch.equal(torch.get_rng_state(), state)  # an actor of one's own draws its first parameters elsewhere


def test_actor_of_a_file_that_was_not_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _train(ACTORS["own"], out=tmp_path)
    with monkeypatch.context() as patch:
        patch.delitem(KINDS, "Own")
        front = Front.load(tmp_path)
        refused(r"`actor` must be known .*import the file that defines it.*, got Own", front.policy, [0.5, 0.5])
    assert Front.load(tmp_path).policy([0.5, 0.5])(OBSERVATION).shape == (2,)


def test_front_without_a_network_has_that_of_the_paper(decomposed: Front, tmp_path: Path) -> None:
    front = decomposed
    front.save(tmp_path)
    fields = unseal(tmp_path / NAME, schema=1, advice="")
    del fields["network"], fields["digest"]
    (tmp_path / NAME).write_bytes(seal(fields))
    again = Front.load(tmp_path)
    assert again.network == front.network
    np.testing.assert_array_equal(again.policy([0.3, 0.7])(OBSERVATION), front.policy([0.3, 0.7])(OBSERVATION))


def test_choices_stay_choices(tmp_path: Path) -> None:
    recipe = replace(RECIPE, actor=Actor(hidden=8, activation="ReLU"))
    front = train_front(recipe, "deep-sea-treasure-v0", 3, [0], 64, out=tmp_path, **QUICK)
    assert isinstance(front.network.actions, Choices)
    again = Front.load(tmp_path)
    assert again.network == front.network == Network.from_dict(front.network.to_dict())
    assert isinstance(again.network.actions, Choices)
    live = recipe.actor.build(2, 2, Choices(4))
    live.load_state_dict(front.policies[0])
    state = make_batch("deep-sea-treasure-v0", 1, 0).reset_tensors()
    expected = live(state, torch.tensor([0.3, 0.7])).argmax(-1)
    assert torch.equal(again.policy([0.3, 0.7])(state), expected)


def test_front_that_cannot_be_played_has_no_film(tmp_path: Path) -> None:
    recipe = replace(RECIPE, actor=Live(UnitBoxGaussianActor(30, 3, 2, hidden=8)))
    train_front(recipe, "stealth", 3, [0], 64, out=tmp_path, **{**QUICK, "eval_episodes": 1})
    assert film_front(Front.load(tmp_path), tmp_path, find_source("stealth")) is None


@pytest.mark.parametrize("wrong", [{"actor": {}}, {"actor": {"type": "Actor", "depth": 5}}, {"observation_dim": 3}])
def test_network_that_does_not_fit_is_reported_as_damage(
    conditioned: Front, tmp_path: Path, wrong: dict[str, Any]
) -> None:
    conditioned.save(tmp_path)
    fields = unseal(tmp_path / NAME, schema=1, advice="")
    del fields["digest"]
    (tmp_path / NAME).write_bytes(seal(fields | {"network": fields["network"] | wrong}))
    with pytest.raises(StoreError, match=r"front.json: damaged"):
        Front.load(tmp_path)
