import math

import hypothesis
import torch
from hypothesis import strategies as st

from morl_blocks.llm import group_normalize
from tests.refusals import refused


def by_loops(rewards: torch.Tensor, groups: torch.Tensor, epsilon: float) -> torch.Tensor:
    """The definition, one number at a time."""
    result = torch.zeros_like(rewards)
    for group in set(groups.tolist()):
        rows = [n for n in range(len(groups)) if groups[n] == group]
        for k in range(rewards.shape[1]):
            known = [(n, float(rewards[n, k])) for n in rows if not math.isnan(rewards[n, k])]
            if len(known) < 2 or len({value for _, value in known}) == 1:
                continue
            mean = sum(value for _, value in known) / len(known)
            std = math.sqrt(sum((value - mean) ** 2 for _, value in known) / (len(known) - 1))
            for n, value in known:
                result[n, k] = (value - mean) / (std + epsilon)
    return result


@hypothesis.given(seed=st.integers(0, 2**31), holes=st.sampled_from([0.0, 0.3, 0.9]))
@hypothesis.settings(max_examples=30, deadline=None)
def test_equals_the_definition(seed: int, holes: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    rewards = torch.randn(12, 3, generator=generator, dtype=torch.float64)
    rewards[torch.rand(12, 3, generator=generator) < holes] = math.nan
    groups = torch.randint(0, 5, (12,), generator=generator) * 7  # ids with gaps, in any order
    torch.testing.assert_close(group_normalize(rewards, groups), by_loops(rewards, groups, 1e-4), rtol=0, atol=1e-12)


def test_constant_rewards_give_exactly_zero_and_shift_and_scale_do_not_matter() -> None:
    """In single precision the mean of three numbers 0.1 is not 0.1."""
    constant = torch.tensor([[0.1, 1e6 + 0.1]]).repeat(3, 1)
    assert group_normalize(constant, torch.zeros(3, dtype=torch.long), epsilon=0.0).eq(0).all()
    rewards = torch.rand(2, 3, 6, 2, generator=torch.Generator().manual_seed(0))
    groups = torch.tensor([4, 4, 9, 9, 9, 4])
    batched = group_normalize(rewards, groups, 0.0)
    assert batched.dtype == torch.float32
    moved = rewards.double() * torch.tensor([3.0, 0.01]) + torch.tensor([-5.0, 7.0])
    for i in range(2):
        for j in range(3):
            alone = group_normalize(moved[i, j], groups, 0.0)
            torch.testing.assert_close(batched[i, j], alone.float(), rtol=1e-4, atol=1e-4)


def test_bad_input() -> None:
    refused("`epsilon` must lie in", group_normalize, torch.zeros(2, 2), torch.zeros(2, dtype=torch.long), epsilon=-1.0)
    refused("at least one completion", group_normalize, torch.zeros(0, 2), torch.zeros(0, dtype=torch.long))
    refused("`groups` must hold one id per completion", group_normalize, torch.zeros(4, 2), [0, 0, 0])
    refused("`groups` must hold ids >= 0, got -1", group_normalize, torch.zeros(4, 2), [0, 0, 0, -1])
    refused("`groups` must hold whole numbers", group_normalize, torch.zeros(4, 2), [0.0, 0.0, 0.0, 1.0])
