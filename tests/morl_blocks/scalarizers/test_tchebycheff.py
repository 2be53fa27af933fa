import torch
from hypothesis import given

from morl_blocks.scalarizers import Tchebycheff, tchebycheff
from tests.morl_blocks.strategies import preferences, vectors

CONCAVE_FRONT = torch.tensor([[1.0, 0.0], [0.4, 0.4], [0.0, 1.0]])


def test_closed_forms() -> None:
    utilities = Tchebycheff(utopia=1.05)(CONCAVE_FRONT, torch.tensor([0.5, 0.5]))
    torch.testing.assert_close(utilities, torch.tensor([-0.525, -0.325, -0.525]))
    values, weights = torch.tensor([0.2, 0.5, 0.8]), torch.tensor([0.5, 0.3, 0.2])
    block = Tchebycheff()  # gradient and attention sit on the worst objective
    torch.testing.assert_close(block(values, weights), torch.tensor(-0.425))
    torch.testing.assert_close(block.gradient(values, weights), torch.tensor([0.5, 0.0, 0.0]))
    torch.testing.assert_close(block.attention(values, weights), torch.tensor([1.0, 0.0, 0.0]))
    values, weights = torch.tensor([3.0, 5.0]), torch.tensor([0.5, 0.5])
    block = Tchebycheff(utopia=torch.tensor([2.5, 1.0]), sense="min")  # a utopia point per objective
    torch.testing.assert_close(block(values, weights), torch.tensor(2.0))
    torch.testing.assert_close(tchebycheff(-values, weights, torch.tensor([-2.5, -1.0])), torch.tensor(-2.0))


@given(vectors(3, -2, 2), preferences(3))
def test_gradient_is_autograds_also_on_ties(values: torch.Tensor, weights: torch.Tensor) -> None:
    for sense in ("max", "min"):
        block = Tchebycheff(sense=sense)
        leaf = values.clone().requires_grad_()
        (autograd,) = torch.autograd.grad(block(leaf, weights), leaf)
        torch.testing.assert_close(block.gradient(values, weights), autograd)
