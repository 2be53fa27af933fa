import torch
from hypothesis import given
from torch import Tensor

from morl_blocks.combiners import Sum, WeightedSum
from tests.morl_blocks.strategies import jacobians, preferences


def test_closed_form() -> None:
    jacobian = torch.tensor([[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
    torch.testing.assert_close(Sum()(jacobian), torch.tensor([0.0, 0.0, 1.0]))
    eta = torch.tensor([0.5, 0.25, 0.25])
    torch.testing.assert_close(WeightedSum()(jacobian, eta), torch.tensor([0.75, 0.0, 0.75]))
    torch.testing.assert_close(WeightedSum(rescale=False)(jacobian, eta), torch.tensor([0.25, 0.0, 0.25]))
    runs, eta = torch.randn(4, 3, 5), torch.rand(4, 3).softmax(-1)
    torch.testing.assert_close(Sum()(runs), runs.sum(1))
    torch.testing.assert_close(WeightedSum()(runs, eta), 3 * torch.einsum("rm,rmp->rp", eta, runs))


@given(jacobians(3), preferences(3))
def test_weighted_sum_is_the_gradient_of_the_linear_utility(jacobian: Tensor, weights: Tensor) -> None:
    x = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    (expected,) = torch.autograd.grad((weights * (jacobian @ x)).sum(), x)
    torch.testing.assert_close(WeightedSum(rescale=False)(jacobian, weights), expected)
