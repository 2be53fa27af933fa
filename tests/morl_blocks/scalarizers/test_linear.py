import torch

from morl_blocks.scalarizers import Linear, linear

W = torch.tensor([0.5, 0.5])
CONCAVE_FRONT = torch.tensor([[1.0, 0.0], [0.4, 0.4], [0.0, 1.0]])


def test_never_prefers_the_concave_middle() -> None:
    torch.testing.assert_close(Linear()(CONCAVE_FRONT, W), torch.tensor([0.5, 0.4, 0.5]))
    first = torch.linspace(0, 1, 101)
    weights = torch.stack([first, 1 - first], -1)
    utilities = linear(CONCAVE_FRONT[:, None].expand(-1, 101, -1), weights[None])
    assert 1 not in utilities.argmax(0).tolist()
