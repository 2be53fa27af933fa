import pytest
import torch

from morl_blocks.scalarizers import Linear, linear

W = torch.tensor([0.5, 0.5])
CONCAVE_FRONT = torch.tensor([[1.0, 0.0], [0.4, 0.4], [0.0, 1.0]])


def test_value_on_the_concave_front() -> None:
    torch.testing.assert_close(Linear()(CONCAVE_FRONT, W), torch.tensor([0.5, 0.4, 0.5]))


def test_never_prefers_the_concave_middle() -> None:
    first = torch.linspace(0, 1, 101)
    weights = torch.stack([first, 1 - first], -1)
    utilities = linear(CONCAVE_FRONT[:, None].expand(-1, 101, -1), weights[None])
    assert 1 not in utilities.argmax(0).tolist()


@pytest.mark.parametrize("sense", ["max", "min"])
def test_gradient_and_attention_are_the_preference(sense: str) -> None:
    block = Linear(sense=sense)  # type: ignore[arg-type]
    values = torch.rand(4, 3, dtype=torch.float64, requires_grad=True)
    weights = torch.tensor([0.2, 0.3, 0.5], dtype=torch.float64)
    (autograd,) = torch.autograd.grad(block(values, weights).sum(), values)
    torch.testing.assert_close(block.gradient(values, weights), autograd)
    torch.testing.assert_close(block.attention(values, weights), weights.expand(4, 3))
