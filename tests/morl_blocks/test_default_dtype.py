"""Blocks work under any default dtype, and answer in the dtype that they are given."""

import pytest
import torch

from morl_blocks.combiners import PCGrad, WeightedPCGrad
from morl_blocks.critics import BranchedCritic
from morl_blocks.ppo import ReturnNormalizer, UnitBoxGaussianActor, vector_advantage, vector_gae
from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff, Linear, Scalarizer, SmoothTchebycheff, Tchebycheff
from morl_blocks.schedulers import ConflictBraked

pytestmark = pytest.mark.usefixtures("double_default")


def single(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, dtype=torch.float32)


def test_scalarizers_combiners_and_schedulers() -> None:
    blocks: list[Scalarizer] = [Linear(), Tchebycheff(), SmoothTchebycheff()]
    for block in [*blocks, AdaptiveSmoothTchebycheff(ConflictBraked())]:
        for answer in (block, block.gradient, block.attention):
            assert answer(single(5, 3), single(3).softmax(-1)).dtype == torch.float32
    assert PCGrad()(single(3, 4)).dtype == torch.float32
    assert WeightedPCGrad()(single(3, 4), torch.full((3,), 1 / 3)).dtype == torch.float32
    assert ConflictBraked().step(0.5, single(4)).dtype == torch.float64


def test_ppo_and_networks() -> None:
    never = torch.zeros(5, 1, dtype=torch.bool)
    advantage, _ = vector_gae(single(5, 2), single(5, 2), single(5, 2), never, never, 0.99, 0.95)
    assert vector_advantage(advantage).dtype == torch.float32
    normalizer = ReturnNormalizer(2)
    assert normalizer(single(5, 2)).dtype == torch.float32
    assert normalizer.normalize(single(5, 2)).dtype == torch.float32
    assert BranchedCritic(4, 2)(single(5, 4), single(2)).shape == (5, 2)
    assert UnitBoxGaussianActor(4, 2, 3)(single(5, 4), single(2))[0].shape == (5, 3)
