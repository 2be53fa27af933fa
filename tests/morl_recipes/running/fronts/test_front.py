"""A front: its points, its policies, and its folder."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from morl_blocks.metrics import hypervolume
from morl_blocks.preferences import even_preferences
from morl_envs.toy import toy
from morl_recipes import Front
from morl_recipes.common.errors import StoreError
from morl_recipes.common.seeds import derive
from morl_recipes.evaluation.episodes import front_returns
from morl_recipes.evaluation.saved_policy import make_policy
from morl_recipes.running.fronts import front as files
from tests.refusals import refused


def _with(front: Front, returns: list[list[float]]) -> Front:
    """Return the front with other returns, for the evaluations of its first seed."""
    count = len(returns)
    asked, member = front.asked[:count], np.zeros(count, np.int64)
    return replace(front, asked=asked, returns=np.array(returns), errors=np.zeros((count, 2)), member=member)


def test_points_are_different_and_not_dominated(conditioned: Front) -> None:
    front = _with(conditioned, [[0.0, 3.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [0.5, 1.0]])
    assert front.points.tolist() == [[0.0, 3.0], [1.0, 2.0]]
    assert front.kept.tolist() == [0, 2]  # the middle one of the equal ones
    assert front.preferences.tolist() == [[0.0, 1.0], [0.5, 0.5]]
    assert front.table()["corner 0"].tolist() == [0.0, 1.0]


def test_hypervolume_and_a_reference_that_no_point_exceeds(conditioned: Front) -> None:
    front = _with(conditioned, [[0.0, 3.0], [2.0, 1.0]])
    assert front.hypervolume([-1.0, 0.0]) == hypervolume(front.points, [-1.0, 0.0]) == 3.0 + 2.0
    refused(r"`reference` must lie below at least one point in every objective", front.hypervolume, [1.0, 2.0])
    assert front.hypervolume([1.0, 2.0], allow_empty=True) == 0.0
    refused(r"`reference` must have shape \[2\]", front.hypervolume, [0.0, 0.0, 0.0])


def test_policy_takes_arrays_or_tensors_of_one_or_many_observations(conditioned: Front) -> None:
    policy = conditioned.policy([0.3, 0.7])
    one = policy(np.zeros(4))
    assert isinstance(one, np.ndarray)
    assert one.shape == (2,)
    many = policy(torch.zeros(3, 4))
    assert isinstance(many, torch.Tensor)
    np.testing.assert_allclose(many.numpy(), np.stack([one] * 3), rtol=1e-6)
    refused(r"`observation` must have shape \[4\] or \[N, 4\], got shape \[5\]", policy, np.zeros(5))


def test_policy_is_that_of_the_preference_or_of_the_nearest(conditioned: Front, decomposed: Front) -> None:
    assert conditioned.policy([0.3, 0.7]).preference.tolist() == pytest.approx([0.3, 0.7])
    one, other = (conditioned.policy(own)(np.zeros(4)) for own in ([0.3, 0.7], [0.31, 0.69]))
    assert not np.allclose(one, other, atol=1e-9)
    nearest = decomposed.policy([0.3, 0.7])
    assert nearest.preference.tolist() == pytest.approx([0.25, 0.75])
    assert torch.equal(nearest.module.actor.state_dict()["mean.bias"], decomposed.policies[1]["mean.bias"])
    returns = conditioned.returns.copy()
    returns[conditioned.member == 1] += 100  # of two seeds the better one plays
    chosen = replace(conditioned, returns=returns).policy([0.3, 0.7]).module.actor.state_dict()["mean.bias"]
    assert torch.equal(chosen, conditioned.policies[1]["mean.bias"])
    refused(r"`preference` must hold 2 numbers each, got \[0.2, 0.3, 0.5\]", conditioned.policy, [0.2, 0.3, 0.5])
    refused("`preference` must sum to 1", conditioned.policy, [0.2, 0.3])


def test_front_of_one_seed_has_its_evaluations_and_policies(conditioned: Front) -> None:
    own = conditioned.of(4)
    assert own.seeds == (4,)
    assert np.array_equal(own.returns, conditioned.returns[5:])
    assert own.member.tolist() == [0] * 5
    assert torch.equal(own.policies[0]["mean.bias"], conditioned.policies[1]["mean.bias"])
    refused(r"`seed` must be one of \[3, 4\], got 9", conditioned.of, 9)


def test_front_prints_its_points(conditioned: Front) -> None:
    text = repr(conditioned)
    assert "on toy (corner 0, corner 1), custom" in text
    assert "one policy for all preferences, seeds 3, 4" in text
    assert len(text.splitlines()) == 2 + len(conditioned.points)


def test_onnx_takes_the_preference_as_an_input(conditioned: Front, tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="the export extra is not installed")
    pytest.importorskip("onnxscript", reason="the export extra is not installed")
    assert conditioned.export(tmp_path / "p.onnx", env=toy()) < 1e-5
    session = onnxruntime.InferenceSession(str(tmp_path / "p.onnx"))
    inputs = {"observation": np.zeros((1, 4), np.float32), "preference": np.array([[0.3, 0.7]], np.float32)}
    expected = conditioned.of(3).policy([0.3, 0.7])(np.zeros(4)), conditioned.of(4).policy([0.3, 0.7])(np.zeros(4))
    (action,) = session.run(["action"], inputs)
    assert min(np.abs(action[0] - own).max() for own in expected) < 1e-5


@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_returns_are_those_of_a_plain_loop(conditioned: Front, gamma: float) -> None:
    modules = [make_policy(policy, 2, conditioned.network) for policy in conditioned.policies]
    assert not any(tensor.requires_grad for module in modules for tensor in module.parameters())
    weights = even_preferences(3, 2).expand(2, -1, -1)
    returns = front_returns(modules, [3, 4], weights, toy(horizon=6), episodes=2, gamma=gamma)
    assert returns.shape == (2, 3, 2, 2)
    for run, index, episode in itertools.product(range(2), range(3), range(2)):
        env = toy(horizon=6).make(1, [derive((3, 4)[run], "front", episode)])
        observation, total = env.reset_tensors(), torch.zeros(2)
        for step in range(6):
            observation, reward, *_ = env.step_tensors(modules[run](observation, weights[run, index].unsqueeze(0)))
            total += gamma**step * reward[0]
        torch.testing.assert_close(returns[run, index, episode], total, rtol=1e-5, atol=1e-5)


def test_front_holds_means_and_standard_errors(conditioned: Front) -> None:
    modules = [make_policy(policy, 2, conditioned.network) for policy in conditioned.policies]
    returns = front_returns(modules, [3, 4], even_preferences(5, 2).expand(2, -1, -1), toy(), episodes=3).double()
    torch.testing.assert_close(torch.from_numpy(conditioned.returns), returns.mean(2).flatten(0, 1))
    torch.testing.assert_close(torch.from_numpy(conditioned.errors), (returns.std(2) / 3**0.5).flatten(0, 1))


@pytest.mark.parametrize("kind", ["conditioned", "decomposed"])
def test_loaded_front_equals_the_saved_one(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    front: Front = request.getfixturevalue(kind)
    front.save(tmp_path / "f")
    again = Front.load(tmp_path / "f")
    for name in ("env", "objectives", "method", "conditioned", "seeds", "episodes", "gamma"):
        assert getattr(again, name) == getattr(front, name)
    for name in ("asked", "returns", "errors", "member"):
        np.testing.assert_array_equal(getattr(again, name), getattr(front, name))
    for one, other in zip(again.policies, front.policies, strict=True):
        assert one.keys() == other.keys()
        assert all(torch.equal(one[key], other[key]) for key in one)
    assert bool(np.isnan(front.errors).all()) == (kind == "decomposed")  # after a single episode


def test_second_front_replaces_the_first_only_when_it_is_complete(
    conditioned: Front, decomposed: Front, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(fields: object) -> bytes:
        raise OSError("no space left")

    conditioned.save(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(files, "seal", crash)
        with pytest.raises(OSError, match="no space left"):
            decomposed.save(tmp_path)
    assert Front.load(tmp_path).conditioned is True
    decomposed.save(tmp_path)
    assert Front.load(tmp_path).conditioned is False
    assert len(list(tmp_path.iterdir())) == 2


def test_damage_is_named(conditioned: Front, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"front.json: cannot be read"):
        Front.load(tmp_path)
    conditioned.save(tmp_path)
    (file,) = tmp_path.glob("policies-*.safetensors")
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(StoreError, match=r"policies-.*: damaged \(its digest does not match\)"):
        Front.load(tmp_path)
    text = (tmp_path / "front.json").read_text()
    (tmp_path / "front.json").write_text(text.replace('"gamma": 1.0', '"gamma": 0.5'))
    with pytest.raises(StoreError, match=r"front.json: damaged \(its digest does not match\)"):
        Front.load(tmp_path)


def test_link_in_place_of_the_front_is_refused(conditioned: Front, tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "front.json").symlink_to(tmp_path / "mine.txt")
    with pytest.raises(StoreError, match="is a link"):
        conditioned.save(tmp_path / "f")
    assert not (tmp_path / "mine.txt").exists()
