import torch

from morl_envs.crazyflie.flight import fly, norm, wall_distance


def test_fly_limits_the_speed_not_the_axes() -> None:
    for action, expected in (([1.0, 0.0], [1.0, 0.0]), ([0.5, 0.0], [0.5, 0.0]), ([1.0, 1.0], [0.5**0.5, 0.5**0.5])):
        found = fly(torch.zeros(2), torch.tensor(action), 0.005)
        torch.testing.assert_close(found, 0.005 * torch.tensor(expected))


def test_norm_and_wall_distance() -> None:
    assert float(norm(torch.tensor([3.0, 4.0]))) == 5
    distances = wall_distance(torch.tensor([[0.9, 0.0], [0.0, -1.0], [0.2, 0.3]]), torch.tensor([0.95, 0.95]))
    torch.testing.assert_close(distances, torch.tensor([0.05, -0.05, 0.65]))
