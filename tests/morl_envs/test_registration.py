import subprocess
import sys

import gymnasium
import pytest

import morl_envs
from morl_envs.cards import world_cards
from morl_envs.registration import register_all


def run(code: str) -> str:
    """Run code in a fresh interpreter and return what it prints last."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]


def test_make_works_with_the_module_in_the_id_and_no_import() -> None:
    code = "import gymnasium; print(gymnasium.make('morl_envs:morl_envs/CrazyflieFrogger-v0').reset(seed=0)[0].shape)"
    assert run(code) == "(20,)"


def test_importing_the_package_is_cheap() -> None:
    heavy = {"torch", "torchrl", "mo_gymnasium", "PIL", "pygame"}
    code = f"import sys, morl_envs; morl_envs.find_card('Stealth'); print(sorted({heavy} & set(sys.modules)))"
    assert run(code) == "[]"


def test_public_names_are_there_and_registering_twice_is_silent() -> None:
    register_all()
    assert {card.gymnasium_id for card in world_cards()} <= set(gymnasium.registry)
    for name in morl_envs.__all__:
        assert name in dir(morl_envs)
        assert getattr(morl_envs, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Atlantis'"):
        _ = morl_envs.Atlantis
