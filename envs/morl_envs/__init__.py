"""Batched torch environments of the paper and typed cards for the environments the recipes run on.

Importing the package registers the three environments with Gymnasium and nothing more: torch, TorchRL and the
environments themselves are loaded when one of the names below is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from morl_envs.registration import register_all

if TYPE_CHECKING:
    from morl_envs.cards import CARDS as CARDS
    from morl_envs.cards import EnvCard as EnvCard
    from morl_envs.crazyflie.formation import CrazyflieFormation as CrazyflieFormation
    from morl_envs.crazyflie.frogger import CrazyflieFrogger as CrazyflieFrogger
    from morl_envs.factory import make_batch as make_batch
    from morl_envs.gymnasium_batch import GymnasiumBatch as GymnasiumBatch
    from morl_envs.protocol import TensorEnv as TensorEnv
    from morl_envs.stealth.env import StealthVisualSearch as StealthVisualSearch

_HOME = {
    "CARDS": "morl_envs.cards",
    "CrazyflieFormation": "morl_envs.crazyflie.formation",
    "CrazyflieFrogger": "morl_envs.crazyflie.frogger",
    "EnvCard": "morl_envs.cards",
    "GymnasiumBatch": "morl_envs.gymnasium_batch",
    "StealthVisualSearch": "morl_envs.stealth.env",
    "TensorEnv": "morl_envs.protocol",
    "make_batch": "morl_envs.factory",
}

__all__ = [
    "CARDS",
    "CrazyflieFormation",
    "CrazyflieFrogger",
    "EnvCard",
    "GymnasiumBatch",
    "StealthVisualSearch",
    "TensorEnv",
    "make_batch",
    "register_all",
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'morl_envs' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *_HOME})


register_all()
