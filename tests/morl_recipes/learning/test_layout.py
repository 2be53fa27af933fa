import torch
from torch import nn

from morl_blocks.critics import BranchedCritic
from morl_recipes.learning.lift import Layout, initial

RUNS, N, M, HIDDEN = 3, 4, 2, 8


def test_layout_views_and_join_are_inverse() -> None:
    layout = Layout.of(BranchedCritic(N, M, HIDDEN))
    flat = torch.randn(RUNS, layout.size)
    torch.testing.assert_close(layout.join(layout.views(flat)), flat)


def test_initial_weights_depend_on_the_own_seed_alone_and_leave_the_global_generator() -> None:
    before = torch.random.get_rng_state()
    _, first = initial(lambda: nn.Linear(2, 2), [1, 2, 3])
    _, second = initial(lambda: nn.Linear(2, 2), [1, 9, 3])
    assert torch.equal(first[[0, 2]], second[[0, 2]])
    assert not torch.equal(first[1], second[1])
    assert torch.equal(before, torch.random.get_rng_state())
