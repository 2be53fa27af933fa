"""The exact front of an environment, for a front that was trained there."""

from morl_envs import CARDS, exact_front
from morl_recipes.fronts._front import Array, Front


def known_front(front: Front) -> Array | None:
    """Return the exact front under the front's discount, ``[k, m]``; ``None`` where nobody knows it."""
    card = CARDS.get(front.env)
    return None if card is None or card.exact_front is None else exact_front(front.env, front.gamma)
