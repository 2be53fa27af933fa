"""The registry of environments: one card each, which defines its id, batches, pictures and heuristics.

A new environment consists of its own files and one card in this folder. Listing the cards imports no environment.
"""

from morl_envs import _names
from morl_envs.cards.card import EnvCard
from morl_envs.cards.games import GAMES
from morl_envs.cards.mujoco import MUJOCO
from morl_envs.cards.worlds import WORLDS

__all__ = ["CARDS", "EnvCard", "find_card", "known_card", "world_cards"]

CARDS: dict[str, EnvCard] = {card.name: card for card in (*WORLDS, *MUJOCO, *GAMES)}


def world_cards() -> tuple[EnvCard, ...]:
    """Return the cards of the batched torch environments.

    Example:
        >>> [card.class_name for card in world_cards()]
        ['StealthVisualSearch', 'CrazyflieFrogger', 'CrazyflieFormation']
    """
    return tuple(card for card in CARDS.values() if card.world is not None)


def find_card(name: str | EnvCard) -> EnvCard:
    """Return the card of a name or a Gymnasium id in any case; for unknown names, raise an error with the nearest ones.

    Example:
        >>> find_card("Stealth").objectives
        ('score', 'stealth', 'exploration')
        >>> find_card("morl_envs/CrazyflieFrogger-v0").name
        'frogger'
    """
    if isinstance(name, EnvCard):
        return name
    if (card := known_card(name)) is None:
        raise _names.unknown("env", "be a known environment", name, CARDS)
    return card


def known_card(name: str) -> EnvCard | None:
    """Return the card of a name or a Gymnasium id in any case, or ``None``."""
    words = name.lower() if isinstance(name, str) else ""
    for card in CARDS.values():
        if words in (card.name.lower(), card.gymnasium_id.lower()):
            return card
    return None
