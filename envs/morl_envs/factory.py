"""Create an environment batch by name, with the tensor interface that the trainer drives."""

from collections.abc import Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Any

from torch import Tensor

from morl_envs.cards import CARDS, EnvCard
from morl_envs.gymnasium_batch import GymnasiumBatch
from morl_envs.protocol import TensorEnv
from morl_envs.worlds import create_world

_WORLDS = {"stealth": "StealthVisualSearch", "frogger": "CrazyflieFrogger", "formation": "CrazyflieFormation"}


def find_card(name: str | EnvCard) -> EnvCard:
    """Return the card of a name; an unknown name is refused with the nearest known ones.

    Example:
        >>> find_card("stealth").objectives
        ('score', 'stealth', 'exploration')
    """
    if isinstance(name, EnvCard):
        return name
    if name not in CARDS:
        near = get_close_matches(name, CARDS, n=3, cutoff=0.4) or list(CARDS)
        raise ValueError(f"`env` must be a known environment, got {name!r}. Nearest: {', '.join(near)}.")
    return CARDS[name]


def make_batch(
    name: str | EnvCard, num_envs: int, seeds: int | Sequence[int] | Tensor = 0, **options: Any
) -> TensorEnv:
    """Create N environments behind the tensor interface (:class:`~morl_envs.protocol.TensorEnv`).

    Args:
        name: A name in :data:`~morl_envs.cards.CARDS`, or a card.
        num_envs: N.
        seeds: One number (environment ``k`` gets ``seeds + k``) or N numbers.
        **options: Options of the world, or keyword arguments of the Gymnasium environment.

    Example:
        >>> env = make_batch("stealth", 3, seeds=[5, 5, 9])
        >>> first = env.reset_tensors()
        >>> first.shape, bool((first[0] == first[1]).all()), bool((first[0] == first[2]).all())
        (torch.Size([3, 30]), True, False)
    """
    card = find_card(name)
    if card.kind == "torch":
        return create_world(_WORLDS[card.name], batch_size=[num_envs], seed=seeds, **options)
    if card.extra is not None and find_spec(card.extra) is None:
        raise ImportError(f"{card.name} needs the {card.extra} extra: pip install 'morl-blocks[{card.extra}]'.")
    return GymnasiumBatch(card.name, num_envs, seeds, objectives=card.objectives, **options)
