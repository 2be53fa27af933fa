import torch

from morl_blocks.combiners import Sum, WeightedSum


def test_closed_form() -> None:
    jacobian = torch.tensor([[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
    torch.testing.assert_close(Sum()(jacobian), torch.tensor([0.0, 0.0, 1.0]))
    eta = torch.tensor([0.5, 0.25, 0.25])
    torch.testing.assert_close(WeightedSum()(jacobian, eta), torch.tensor([0.75, 0.0, 0.75]))
    torch.testing.assert_close(WeightedSum(rescale=False)(jacobian, eta), torch.tensor([0.25, 0.0, 0.25]))
    runs, eta = torch.randn(4, 3, 5), torch.rand(4, 3).softmax(-1)
    torch.testing.assert_close(Sum()(runs), runs.sum(1))
    torch.testing.assert_close(WeightedSum()(runs, eta), 3 * torch.einsum("rm,rmp->rp", eta, runs))
