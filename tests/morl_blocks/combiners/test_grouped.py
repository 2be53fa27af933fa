import pytest
import torch
from torch import Generator

from morl_blocks.combiners import GroupedPCGrad, PCGrad, conflict_ratio, preference_groups
from tests.refusals import refused


def test_groups_of_two_objectives_are_intervals() -> None:
    weights = torch.linspace(0, 1, 101)
    member = preference_groups(torch.stack([weights, 1 - weights], -1), groups=5)
    assert member.sum(-1).eq(1).all()
    assert member.argmax(-1).diff().ge(0).all()
    runs = preference_groups(torch.stack([weights, 1 - weights], -1).unsqueeze(1), groups=5)
    assert torch.equal(runs.squeeze(1), member)
    assert member.sum(0).tolist() == pytest.approx([13, 25, 25, 25, 13], abs=1)


def test_empty_groups_change_nothing() -> None:
    jacobian = torch.randn(3, 7, generator=Generator().manual_seed(0))
    padded = torch.cat([torch.zeros(3, 7), jacobian, torch.zeros(3, 7)])
    # Three gradients meet each other in two orders each; all orders of the padded nine are among them.
    found = {tuple(PCGrad(seed)(jacobian).mul(1e4).round().tolist()) for seed in range(60)}
    assert {tuple(GroupedPCGrad(3, seed)(padded).mul(1e4).round().tolist()) for seed in range(20)} <= found


def test_conflict_counts_the_gradients_that_are_there() -> None:
    jacobian = torch.tensor([[1.0, 0.0], [-1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    assert GroupedPCGrad(2).merge(jacobian).conflict == 1.0 == conflict_ratio(jacobian[:2] @ jacobian[:2].T)
    assert GroupedPCGrad(2).merge(torch.zeros(4, 3)).conflict == 0.0


def test_the_update_goes_against_no_gradient_of_two_groups_or_more() -> None:
    jacobian = torch.tensor([[1.6, 0.4], [0.0, 0.0], [0.0, 0.0], [-1.0, 1.0]])  # one objective of each group
    assert bool((jacobian @ GroupedPCGrad(2)(jacobian) >= 0).all())
    for groups in (0, 1, 2.5):
        refused(f"`groups` must be a whole number >= 2, got {groups}", GroupedPCGrad, groups)
