"""Create an environment batch by name, with the tensor interface that the trainer uses."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from morl_envs import _checks
from morl_envs.cards import EnvCard
from morl_envs.cards import find_card as find_card
from morl_envs.gymnasium_batch import GymnasiumBatch
from morl_envs.protocol import TensorEnv
from morl_envs.worlds import create_world


def make_batch(
    name: str | EnvCard, num_envs: int, seeds: int | Sequence[int] | Tensor = 0, **options: Any
) -> TensorEnv:
    """Create N environments behind the tensor interface (:class:`~morl_envs.protocol.TensorEnv`).

    Args:
        name: A name in :data:`~morl_envs.cards.CARDS` (any case), or a card.
        num_envs: N.
        seeds: One number (environment ``k`` gets ``seeds + k``) or N numbers.
        **options: Options of a torch environment, or keyword arguments of the Gymnasium environment.

    Example:
        >>> env = make_batch("stealth", 3, seeds=[5, 5, 9])
        >>> first = env.reset_tensors()
        >>> first.shape, bool((first[0] == first[1]).all()), bool((first[0] == first[2]).all())
        (torch.Size([3, 30]), True, False)
    """
    card = find_card(name)
    card.check()
    count = _checks.batch(num_envs, "num_envs")
    first = _checks.seeds(seeds, count, "seeds")
    if card.world is not None:
        return create_world(card.world, batch_size=[count], seed=first, **options)
    options = {"horizon": card.horizon, "objectives": card.objectives, "values": card.values, **options}
    return GymnasiumBatch(card.name, count, first, **options)
