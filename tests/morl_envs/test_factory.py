import pytest
import torch

from morl_envs import CARDS, find_card, make_batch
from tests.refusals import refused


def test_options_seeds_and_names_reach_the_world() -> None:
    assert make_batch("stealth", 2, horizon=7).horizon == 7
    assert make_batch("deep-sea-treasure-v0", 2, horizon=7).horizon == 7
    first = make_batch("frogger", 3, seeds=[8, 8, 1]).reset_tensors()
    assert torch.equal(first[0], first[1])
    assert not torch.equal(first[0], first[2])
    assert find_card("FROGGER") is find_card("morl_envs/crazyflieFrogger-v0") is CARDS["frogger"]
    assert find_card(CARDS["frogger"]) is CARDS["frogger"]
    assert make_batch("Stealth", 1).observation_dim == 30
    for typo, nearest in (("steath", "stealth"), ("mo-halfcheeta-v5", "mo-halfcheetah-v5")):
        refused(f"`env` must be a known environment, got '{typo}'. Nearest: {nearest}", make_batch, typo, 1)


def test_a_missing_extra_is_named_under_the_name_that_it_is_imported_by(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name if name == "Box2D" else None)
    assert CARDS["mo-lunar-lander-continuous-v3"].missing() is None
    assert CARDS["mo-hopper-v5"].missing() == "mujoco"
    assert CARDS["stealth"].missing() is None
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for env, extra in (("mo-ant-v5", "mujoco"), ("mo-lunar-lander-continuous-v3", "box2d")):
        with pytest.raises(ImportError, match=rf"{env} needs the {extra} extra: pip install 'morl-blocks\[{extra}\]'"):
            make_batch(env, 1)
