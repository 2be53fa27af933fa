"""Create a torch environment by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from morl_envs import _names
from morl_envs._loading import load
from morl_envs.cards import world_cards

if TYPE_CHECKING:
    from morl_envs.base import BatchedEnv


def create_world(name: str, **arguments: Any) -> BatchedEnv:
    """Create a torch environment.

    Args:
        name: Name of its class (``"CrazyflieFrogger"``), or an import path (``"my_package.my_world:MyWorld"``).
        **arguments: Arguments of the class.

    Example:
        >>> create_world("CrazyflieFrogger", batch_size=[2]).num_envs
        2
    """
    paths = {str(card.class_name): card.world for card in world_cards()}
    path = name if ":" in name else paths.get(name)
    if path is None:
        _names.fail("world", f"be one of {', '.join(paths)}", name)
    world: BatchedEnv = load(path)(**arguments)
    return world
