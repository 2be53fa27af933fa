"""Registration with Gymnasium, without imports: environments are given by import paths and loaded by ``make``."""

import gymnasium

from morl_envs import _names
from morl_envs.cards import EnvCard, world_cards


def register(card: EnvCard) -> None:
    """Register the environment of a card under its ``gymnasium_id``; a second call has no effect."""
    if not isinstance(card, EnvCard):
        _names.fail("card", "be an EnvCard", repr(card))
    if card.world is not None and card.gymnasium_id not in gymnasium.registry:
        gymnasium.register(
            id=card.gymnasium_id,
            entry_point="morl_envs.gymnasium_env:SingleEnv",
            vector_entry_point="morl_envs.gymnasium_vector:BatchVectorEnv",
            # Gymnasium's passive checker warns about every reward that is not a single number.
            disable_env_checker=True,
            kwargs={"world": card.world},
        )


def register_all() -> None:
    """Register ``morl_envs/<class>-v0`` for every torch environment that has a card; a second call has no effect.

    Example:
        >>> import gymnasium
        >>> import morl_envs
        >>> sorted(name for name in gymnasium.registry if name.startswith("morl_envs/"))
        ['morl_envs/CrazyflieFormation-v0', 'morl_envs/CrazyflieFrogger-v0', 'morl_envs/StealthVisualSearch-v0']
    """
    for card in world_cards():
        register(card)
