import torch

from morl_recipes.learning.observations import ObservationScale


def test_statistics_equal_those_of_all_observations() -> None:
    torch.manual_seed(0)
    parts = [torch.randn(2, 3, 20, 4) * 5 + 3 for _ in range(3)]
    scale = ObservationScale(runs=2, observation_dim=4)
    for part in parts:
        scale.update(part)
    rows = torch.cat([part.flatten(1, 2) for part in parts], dim=1)
    torch.testing.assert_close(scale.mean, rows.mean(1))
    torch.testing.assert_close(scale.variance, rows.var(1, correction=0))


def test_what_never_changes_is_no_signal() -> None:
    """Masses and lengths of a robot are observed too; rounding in their statistics must not reach the networks."""
    torch.manual_seed(0)
    constants = torch.tensor([8.907, 2.2619, 1e-3, -4.7518, 0.0, 100.1])
    scale = ObservationScale(runs=1, observation_dim=6)
    for _ in range(3):
        scale.update(constants.expand(1, 8, 256, 6))
    assert scale.apply(constants.expand(1, 1, 6)).abs().max() < 0.2


def test_large_values_are_clipped() -> None:
    scale = ObservationScale(runs=1, observation_dim=1)
    assert scale.apply(torch.tensor([[[1e9], [-1e9]]])).flatten().tolist() == [10.0, -10.0]
