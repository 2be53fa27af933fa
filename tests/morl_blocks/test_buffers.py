"""Blocks keep copies of what they are given: later writing passes no checks, and loading a state writes to nobody."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from morl_blocks.ppo import UnitBoxGaussianActor, UnitBoxPolicy, VectorGAE
from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff, Linear, SmoothTchebycheff, Tchebycheff
from morl_blocks.schedulers import Fixed
from morl_blocks.transforms import Preference, ScalarizeReward


def box(low: Tensor | float, high: Tensor | float) -> UnitBoxPolicy:
    return UnitBoxPolicy(UnitBoxGaussianActor(4, 2, 2), low, high)


BLOCKS: dict[str, tuple[Tensor, Callable[[Tensor], nn.Module]]] = {
    "Preference": (torch.tensor([0.7, 0.3]), lambda given: Preference(given)),
    "ScalarizeReward": (torch.tensor([0.7, 0.3]), lambda given: ScalarizeReward(Linear(), given)),
    "utopia": (torch.tensor([1.5, 1.2]), Tchebycheff),
    "mu": (torch.tensor([0.5, 0.1]), SmoothTchebycheff),
    "maintenance": (torch.tensor([0.5, 0.1]), lambda given: AdaptiveSmoothTchebycheff(Fixed(0.5), maintenance=given)),
    "gamma": (torch.tensor([0.9, 0.5]), lambda given: VectorGAE(gamma=given)),
    "lmbda": (torch.tensor([0.9, 0.5]), lambda given: VectorGAE(lmbda=given)),
    "low": (torch.tensor([-1.0, -2.0]), lambda given: box(given, 1.0)),
    "high": (torch.tensor([1.0, 2.0]), lambda given: box(-1.0, given)),
}
RL = pytest.mark.needs("tensordict", "torchrl")
ALONE = ("utopia", "mu", "maintenance")


@pytest.mark.parametrize("name", [name if name in ALONE else pytest.param(name, marks=RL) for name in BLOCKS])
def test_later_changes_of_a_given_tensor_do_not_reach_the_block(name: str) -> None:
    given, make = BLOCKS[name]
    tensor = given.clone()
    block = make(tensor)
    tensor.fill_(-1e9)
    assert any(torch.equal(buffer, given) for buffer in block.buffers())
    assert not any((buffer == -1e9).any() for buffer in block.buffers())


@RL
def test_loading_a_state_writes_into_no_tensor_of_the_caller_and_an_array_is_copied_too() -> None:
    given = torch.tensor([0.7, 0.3])
    Preference(given).load_state_dict({"weights": torch.tensor([0.2, 0.8])})
    torch.testing.assert_close(given, torch.tensor([0.7, 0.3]))
    low = np.array([-1.0, -2.0], dtype=np.float32)
    policy = box(low, 1.0)  # type: ignore[arg-type]
    low[:] = -1e9
    assert not any((buffer == -1e9).any() for buffer in policy.buffers())


def test_a_smoothness_that_learns_stays_the_parameter_it_is() -> None:
    mu = nn.Parameter(torch.tensor(0.1))
    block = SmoothTchebycheff(mu)
    block(torch.tensor([0.2, 0.5]), torch.tensor([0.5, 0.5])).backward()
    assert mu.grad is not None
    with torch.no_grad():
        mu.fill_(0.5)
    assert block.mu == 0.5
