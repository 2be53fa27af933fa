import pytest
import torch

from morl_envs import CARDS, find_card, make_batch
from tests.refusals import refused


def test_options_reach_the_world() -> None:
    assert make_batch("stealth", 2, horizon=7).horizon == 7
    assert make_batch("deep-sea-treasure-v0", 2, horizon=7).horizon == 7


def test_seeds_one_by_one() -> None:
    first = make_batch("frogger", 3, seeds=[8, 8, 1]).reset_tensors()
    assert torch.equal(first[0], first[1])
    assert not torch.equal(first[0], first[2])


@pytest.mark.parametrize(("typo", "nearest"), [("steath", "stealth"), ("mo-halfcheeta-v5", "mo-halfcheetah-v5")])
def test_unknown_names_are_refused_with_the_nearest(typo: str, nearest: str) -> None:
    refused(f"`env` must be a known environment, got '{typo}'. Nearest: {nearest}", make_batch, typo, 1)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"mo-ant-v5 needs the mujoco extra: pip install 'morl-blocks\[mujoco\]'"):
        make_batch("mo-ant-v5", 1)
    with pytest.raises(ImportError, match=r"continuous-v3 needs the box2d extra: pip install 'morl-blocks\[box2d\]'"):
        make_batch("mo-lunar-lander-continuous-v3", 1)


def test_an_extra_is_looked_for_under_the_name_that_it_is_imported_by(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name if name == "Box2D" else None)
    assert CARDS["mo-lunar-lander-continuous-v3"].missing() is None
    assert CARDS["mo-hopper-v5"].missing() == "mujoco"
    assert CARDS["stealth"].missing() is None


def test_names_in_any_case_and_gymnasium_ids() -> None:
    assert find_card("FROGGER") is find_card("morl_envs/crazyflieFrogger-v0") is CARDS["frogger"]
    assert find_card(CARDS["frogger"]) is CARDS["frogger"]
    assert make_batch("Stealth", 1).observation_dim == 30
