r"""Random numbers as a pure function of (seed, episode, counter), without generator objects or hidden state.

Every environment of a batch has a 64-bit key; the :math:`i`-th number of the key is a hash of key and counter,

.. math:: u_i = 2^{-24} \lfloor h(k + (i + 1)\,\phi) / 2^{40} \rfloor,

where :math:`h` is the finaliser of SplitMix64 [1]_ and :math:`\phi` its odd increment. So environment ``k`` gets the
same numbers whatever the batch size is and whatever the other environments do, and a checkpoint needs only two
integers.

.. [1] Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014.
"""

from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Whole = TypeVar("Whole", Tensor, NDArray[np.int64])
"""int64 numbers; overflow wraps around in NumPy and in torch."""


def _signed(value: int) -> int:
    """Return an unsigned 64-bit constant as the int64 with the same bits."""
    return value - 2**64 if value >= 2**63 else value


_GOLDEN = _signed(0x9E3779B97F4A7C15)
_MIX_1 = _signed(0xBF58476D1CE4E5B9)
_MIX_2 = _signed(0x94D049BB133111EB)


def _shift(value: Whole, bits: int) -> Whole:
    """Shift right, filling with zeros (``>>`` on int64 copies the sign bit)."""
    return (value >> bits) & ((1 << (64 - bits)) - 1)


def mix(value: Whole) -> Whole:
    """Hash int64 to int64, one to one, such that every input bit flips about half of the output bits.

    Example:
        >>> mix(torch.tensor([0, 1, 2])).unique().numel()
        3
    """
    value = (value ^ _shift(value, 30)) * _MIX_1
    value = (value ^ _shift(value, 27)) * _MIX_2
    return value ^ _shift(value, 31)


def episode_key(seed: Whole, episode: Whole) -> Whole:
    """Return the key of an episode, ``[N]`` int64, from the environment's seed and the episode's number."""
    return mix(mix(seed + _GOLDEN) + episode * _GOLDEN)


def uniform(key: Tensor, start: Tensor | int, count: int) -> Tensor:
    """Return the numbers ``start, ..., start + count - 1`` of every key, uniform in [0, 1).

    Args:
        key: Keys, ``[N]`` int64.
        start: First counter, one for all or ``[N]`` int64.
        count: Number of random numbers per key.

    Returns:
        float32, ``[N, count]``.

    Example:
        >>> key = episode_key(torch.tensor([7, 8]), torch.tensor([0, 0]))
        >>> torch.equal(uniform(key, 5, 3)[:, 1:], uniform(key, 6, 2))
        True
    """
    counters = torch.arange(1, count + 1, device=key.device)
    counters = counters + (start.unsqueeze(-1) if isinstance(start, Tensor) else start)
    return _shift(mix(key.unsqueeze(-1) + counters * _GOLDEN), 40).to(torch.float32) * 2.0**-24
