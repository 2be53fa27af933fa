"""An adapter that turns any Gramian-based TorchJD weighting into a combiner."""

from collections.abc import Callable

import torch
from torch import Generator, Tensor

from morl_blocks.combiners._base import OrderedCombiner


class TorchJD(OrderedCombiner):
    """Let a TorchJD weighting (UPGrad, MGDA, CAGrad, ...) choose the weights.

    TorchJD (``pip install 'morl-blocks[torchjd]'``) works on one Gramian at a time, so runs are looped over. Weightings
    that draw random numbers do so from PyTorch's global state; here each call runs on a copy of it, seeded from the
    generator, so that the result depends on the generator alone and the global state stays as it was.

    Args:
        weighting: A weighting of ``torchjd.aggregation`` that takes a Gramian, for example ``UPGradWeighting()``.
        seed: Seed of the own generator, used when a call brings none.

    Example:
        >>> from torchjd.aggregation import UPGradWeighting
        >>> TorchJD(UPGradWeighting())(torch.tensor([[1.0, 0.0], [-1.0, 1.0]])).round(decimals=3)
        tensor([0.2500, 0.7500])
    """

    def __init__(self, weighting: Callable[[Tensor], Tensor], seed: int = 0) -> None:
        super().__init__(seed)
        if not callable(weighting):
            raise ValueError(f"`weighting` must be a TorchJD weighting of a Gramian, got {weighting!r}.")
        self.weighting = weighting

    def _weights(self, gramian: Tensor, attention: Tensor, generator: Generator | None) -> Tensor:
        generator = self._generator if generator is None else generator
        flat = gramian.reshape(-1, *gramian.shape[-2:])
        seeds = torch.randint(2**31, (len(flat),), generator=generator, device=generator.device).tolist()
        weights = [self._seeded(one, seed) for one, seed in zip(flat, seeds, strict=True)]
        return torch.stack(weights).reshape(gramian.shape[:-1])

    def _seeded(self, gramian: Tensor, seed: int) -> Tensor:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            weights = self.weighting(gramian)
        if weights.shape != gramian.shape[:-1]:
            rule = f"return {gramian.shape[-1]} weights for a Gramian"
            raise ValueError(f"`weighting` must {rule}, got shape {list(weights.shape)}.")
        return weights
