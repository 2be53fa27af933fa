import torch
from hypothesis import given
from hypothesis import strategies as st

from morl_blocks.scalarizers import SmoothTchebycheff, SmoothTchebycheffSet, smooth_tchebycheff_set
from tests.refusals import refused


def sets(k: int, m: int) -> st.SearchStrategy[torch.Tensor]:
    numbers = st.lists(st.floats(0, 1), min_size=k * m, max_size=k * m)
    return numbers.map(lambda x: torch.tensor(x, dtype=torch.float64).reshape(k, m))


def test_closed_form_and_a_set_of_one_is_ordinary_stch() -> None:
    """Formula (14) of arXiv 2405.19650 with one smoothness: mu log sum_i 1 / sum_k exp(-w_i (f_ki - z_i) / mu)."""
    losses = torch.tensor([[0.2, 0.9, 0.4], [0.7, 0.1, 0.5]], dtype=torch.float64)
    w, mu, z = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64), 0.05, -0.05
    expected = mu * (1 / (-w * (losses - z) / mu).exp().sum(0)).sum().log()
    torch.testing.assert_close(SmoothTchebycheffSet(mu, z, sense="min")(losses, w), expected)
    torch.testing.assert_close(smooth_tchebycheff_set(-losses + 1.0, w, mu, 1.05), -expected)
    values, alone, together = losses.unsqueeze(1), SmoothTchebycheff(0.1), SmoothTchebycheffSet(0.1)
    torch.testing.assert_close(together(values, w), alone(losses, w))
    torch.testing.assert_close(together.gradient(values, w)[:, 0], alone.gradient(losses, w))
    torch.testing.assert_close(together.attention(values, w)[:, 0], alone.attention(losses, w))


@given(values=sets(3, 4))
def test_bounds_gradient_and_attention(values: torch.Tensor) -> None:
    w, mu = torch.tensor([0.4, 0.3, 0.2, 0.1], dtype=torch.float64), 0.05
    gaps = w * (1.05 - values)
    hard = -gaps.amin(0).max()
    soft = SmoothTchebycheffSet(mu)(values, w)
    assert hard - mu * torch.tensor(4.0).log() - 1e-6 <= soft <= hard + mu * torch.tensor(3.0).log() + 1e-6
    values.requires_grad_()
    (expected,) = torch.autograd.grad(SmoothTchebycheffSet(mu)(values, w), values)
    torch.testing.assert_close(SmoothTchebycheffSet(mu).gradient(values.detach(), w), expected)
    torch.testing.assert_close(SmoothTchebycheffSet(mu).attention(values.detach(), w).sum(), torch.ones_like(soft))


def test_batches_and_differences() -> None:
    values, others = torch.rand(2, 5, 3, 4), torch.rand(2, 5, 3, 4)
    w = torch.rand(2, 5, 1, 4)
    w = w / w.sum(-1, keepdim=True)
    scalarizer = SmoothTchebycheffSet(torch.rand(2, 5) + 0.1, sense="min")
    assert scalarizer(values, w).shape == (2, 5)
    assert scalarizer.attention(values, w).shape == values.shape
    torch.testing.assert_close(scalarizer.difference(values, others, w), scalarizer(values, w) - scalarizer(others, w))


def test_bad_input() -> None:
    scalarizer = SmoothTchebycheffSet()
    refused(r"`values` must be \[\*B, K, m\] with K >= 1", scalarizer, torch.rand(3), torch.full((3,), 1 / 3))
    refused("`weights` must be .* one preference per set", scalarizer, torch.rand(2, 3), torch.full((2, 3), 1 / 3))
    refused("`mu` must be > 0", SmoothTchebycheffSet, 0.0)
    refused("`mu` must broadcast", SmoothTchebycheffSet(torch.ones(3)), torch.rand(2, 4, 3), torch.full((3,), 1 / 3))
    refused(r"`values` must be \[\*B, K", smooth_tchebycheff_set, torch.rand(3), torch.full((3,), 1 / 3), 0.1, 1.05)
