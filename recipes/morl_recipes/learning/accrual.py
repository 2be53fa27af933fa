"""What the running episodes have collected so far, for advantages of whole episodes."""

import torch
from torch import Tensor


class Accrual:
    r"""Keep, for every environment, the discounted reward since its episode began, and the discount of the next step.

    .. math:: C_t = \sum_{k<t} \gamma^k r_k, \qquad d_t = \gamma^t

    Args:
        runs: Number of runs, R.
        envs: Environments per run, E.
        objectives: Number of objectives, m.
        device: Where the tensors live.

    Example:
        >>> accrual = Accrual(runs=1, envs=1, objectives=1)
        >>> done = torch.tensor([False, True, False]).reshape(1, 1, 3, 1)
        >>> before, discount = accrual.over(torch.ones(1, 1, 3, 1), done, gamma=torch.tensor([0.5]))
        >>> before.flatten().tolist(), discount.flatten().tolist()
        ([0.0, 1.0, 0.0], [1.0, 0.5, 1.0])
    """

    def __init__(self, runs: int, envs: int, objectives: int, device: torch.device | str = "cpu") -> None:
        self.reward = torch.zeros(runs, envs, objectives, device=device)
        self.discount = torch.ones(runs, envs, 1, device=device)

    def over(self, reward: Tensor, done: Tensor, gamma: Tensor) -> tuple[Tensor, Tensor]:
        """Go through a rollout.

        Args:
            reward: Rewards, ``[R, E, T, m]``.
            done: Episode ends, ``[R, E, T, 1]``.
            gamma: Discounts of the runs, ``[R]``.

        Returns:
            What was collected before each step, ``[R, E, T, m]``, and the step's own discount, ``[R, E, T, 1]``.
        """
        rate, before, discounts = gamma.reshape(-1, 1, 1), [], []
        for step_reward, step_done in zip(reward.unbind(2), done.unbind(2), strict=True):
            before.append(self.reward)
            discounts.append(self.discount)
            self.reward = torch.where(step_done, 0.0, self.reward + self.discount * step_reward)
            self.discount = torch.where(step_done, 1.0, self.discount * rate)
        return torch.stack(before, dim=2), torch.stack(discounts, dim=2)
