import torch

from morl_envs.crazyflie.flight import fly


def test_fly_limits_the_speed_not_the_axes() -> None:
    for action, expected in (([1.0, 0.0], [1.0, 0.0]), ([0.5, 0.0], [0.5, 0.0]), ([1.0, 1.0], [0.5**0.5, 0.5**0.5])):
        found = fly(torch.zeros(2), torch.tensor(action), 0.005)
        torch.testing.assert_close(found, 0.005 * torch.tensor(expected))
