"""Batched torch environments of the paper, and typed cards for all environments that the recipes use.

Importing the package only registers its torch environments with Gymnasium. Torch, TorchRL and the environments
themselves are loaded on first use of one of the names below.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from morl_envs._extras import without_rl

try:
    from morl_envs.cards import world_cards
    from morl_envs.registration import register, register_all
except ModuleNotFoundError as error:
    raise without_rl("morl_envs", error) from error

if TYPE_CHECKING:
    from morl_envs.cards import CARDS as CARDS
    from morl_envs.cards import EnvCard as EnvCard
    from morl_envs.cards import find_card as find_card
    from morl_envs.crazyflie.formation import CrazyflieFormation as CrazyflieFormation
    from morl_envs.crazyflie.frogger import CrazyflieFrogger as CrazyflieFrogger
    from morl_envs.factory import make_batch as make_batch
    from morl_envs.fronts import exact_front as exact_front
    from morl_envs.gymnasium_batch import GymnasiumBatch as GymnasiumBatch
    from morl_envs.protocol import TensorEnv as TensorEnv
    from morl_envs.stealth.env import StealthVisualSearch as StealthVisualSearch

_HOME = {
    "CARDS": "morl_envs.cards",
    "EnvCard": "morl_envs.cards",
    "GymnasiumBatch": "morl_envs.gymnasium_batch",
    "TensorEnv": "morl_envs.protocol",
    "exact_front": "morl_envs.fronts",
    "find_card": "morl_envs.cards",
    "make_batch": "morl_envs.factory",
    **{str(card.class_name): str(card.world).partition(":")[0] for card in world_cards()},
}

__all__ = [
    "CARDS",
    "CrazyflieFormation",
    "CrazyflieFrogger",
    "EnvCard",
    "GymnasiumBatch",
    "StealthVisualSearch",
    "TensorEnv",
    "exact_front",
    "find_card",
    "make_batch",
    "register",
    "register_all",
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'morl_envs' has no attribute {name!r}")
    try:
        value = getattr(import_module(_HOME[name]), name)
    except ModuleNotFoundError as error:
        raise without_rl(name, error) from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *_HOME})


register_all()
