"""The three torch worlds by class name, for code that is told which one to create."""

from typing import Any

from morl_envs import _checks
from morl_envs.base import BatchedEnv
from morl_envs.crazyflie.formation import CrazyflieFormation
from morl_envs.crazyflie.frogger import CrazyflieFrogger
from morl_envs.stealth.env import StealthVisualSearch

WORLDS: dict[str, type[BatchedEnv]] = {
    "StealthVisualSearch": StealthVisualSearch,
    "CrazyflieFrogger": CrazyflieFrogger,
    "CrazyflieFormation": CrazyflieFormation,
}


def create_world(name: str, **arguments: Any) -> BatchedEnv:
    """Create a world by class name.

    Example:
        >>> create_world("CrazyflieFrogger", batch_size=[2]).num_envs
        2
    """
    if name not in WORLDS:
        _checks.fail("world", f"be one of {', '.join(WORLDS)}", name)
    return WORLDS[name](**arguments)
