import torch

from morl_blocks.ppo import approximate_kl, clip_fraction, explained_variance
from tests.refusals import refused


def test_kl_estimates_the_true_divergence() -> None:
    old, new = torch.distributions.Normal(0.0, 1.0), torch.distributions.Normal(0.1, 1.1)
    torch.manual_seed(0)
    sample = old.sample((200_000,))
    estimate = approximate_kl(new.log_prob(sample), old.log_prob(sample))
    torch.testing.assert_close(estimate, torch.distributions.kl_divergence(old, new), atol=1e-3, rtol=0)


def test_clip_fraction_counts_both_sides_per_run() -> None:
    ratio = torch.tensor([[0.7, 1.0, 1.3, 1.1], [1.0, 1.0, 1.0, 2.0]])
    assert clip_fraction(ratio.log(), torch.zeros(2, 4), 0.2).tolist() == [0.5, 0.25]


def test_explained_variance_per_objective() -> None:
    target = torch.randn(50, 3, dtype=torch.float64)
    value = torch.stack([target[:, 0], torch.full((50,), 2.0).double(), -target[:, 2]], -1)
    torch.testing.assert_close(explained_variance(value, target), torch.tensor([1.0, 0.0, -3.0]).double())


def test_extremes_stay_finite_and_nan_stays_visible() -> None:
    far = torch.tensor([0.0, 500.0])
    assert approximate_kl(far, torch.zeros(2)) == torch.finfo(torch.float32).max / 2
    assert clip_fraction(far, torch.zeros(2), 0.2) == 0.5
    target = torch.randn(8, 2, generator=torch.Generator().manual_seed(0))
    near = target + 0.1 * torch.randn(8, 2, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(explained_variance(near * 1e30, target * 1e30), explained_variance(near, target))
    assert explained_variance(torch.randn(5, 2), torch.ones(5, 2)).tolist() == [0.0, 0.0]
    assert (explained_variance(torch.rand(2048, 1), torch.full((2048, 1), 100.1)) == 0).all()
    nan = torch.tensor([0.0, float("nan")])
    assert approximate_kl(nan, torch.zeros(2)).isnan()
    assert clip_fraction(nan, torch.zeros(2), 0.2).isnan()
    assert explained_variance(nan.unsqueeze(-1), torch.zeros(2, 1)).isnan()


def test_refuses_shapes_that_would_broadcast() -> None:
    refused(r"`old_log_prob` must have shape \[5\], got shape \[5", approximate_kl, torch.zeros(5), torch.zeros(5, 1))
    refused("`clip` must be > 0, got 0", clip_fraction, torch.zeros(5), torch.zeros(5), 0.0)
    refused(r"`target` must have shape \[5, 2\], got shape", explained_variance, torch.zeros(5, 2), torch.zeros(5, 1))
