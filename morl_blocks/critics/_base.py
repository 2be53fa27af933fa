"""What every critic shares: its input, its loss and the value loss under it."""

import torch
from torch import Tensor, nn

from morl_blocks import _checks


def value_loss(values: Tensor, targets: Tensor, attention: Tensor | None = None) -> Tensor:
    r"""Average the squared value errors over time, weighted over the objectives (minimise).

    .. math:: L = \frac{1}{N} \sum_t \sum_i \eta_{t,i} \, (V_i(s_t) - y_{t,i})^2

    Without attention every objective weighs :math:`1/m`.

    Args:
        values: Predicted values, ``[*B, m]``.
        targets: Targets, ``[*B, m]``.
        attention: Weights that sum to 1 over the objectives, ``[m]`` or ``[*B, m]``; uniform by default.

    Returns:
        Loss, a scalar.

    Example:
        >>> value_loss(torch.tensor([[1.0, 2.0]]), torch.zeros(1, 2), torch.tensor([0.25, 0.75]))
        tensor(3.2500)
        >>> value_loss(torch.tensor([[1.0, 2.0]]), torch.zeros(1, 2))
        tensor(2.5000)
    """
    if values.shape != targets.shape:
        _checks.fail("targets", f"have the shape of values {list(values.shape)}", f"shape {list(targets.shape)}")
    errors = (values - targets).square()
    if attention is None:
        return errors.mean(-1).mean()
    _checks.objectives("attention", attention, values.shape[-1], minimum=1)
    _checks.broadcastable("attention", attention, values.shape)
    return (attention * errors).sum(-1).mean()


class Critic(nn.Module):
    """Predict one value per objective from observation and preference.

    Args:
        observation_dim: Numbers in an observation.
        num_objectives: Number of objectives m.
    """

    def __init__(self, observation_dim: int, num_objectives: int) -> None:
        super().__init__()
        _checks.at_least("observation_dim", observation_dim, 1)
        _checks.at_least("num_objectives", num_objectives, 1)
        self.observation_dim = observation_dim
        self.num_objectives = num_objectives

    def loss(self, values: Tensor, targets: Tensor, attention: Tensor | None = None) -> Tensor:
        """Return the value loss with every objective weighing 1/m.

        ``attention`` is accepted and not used, so that critics can stand in for each other;
        wrap the critic in ``AttentionWeightedCritic`` to use it.
        """
        return value_loss(values, targets)

    def _joined(self, observation: Tensor, preference: Tensor) -> Tensor:
        """Return ``[s, w]`` with the preference repeated over the batch, ``[*B, n + m]``."""
        _checks.features("observation", observation, self.observation_dim)
        _checks.objectives("preference", preference, self.num_objectives, minimum=1)
        shape = torch.Size([*observation.shape[:-1], self.num_objectives])
        _checks.broadcastable("preference", preference, shape)
        return torch.cat([observation, preference.expand(shape).to(observation.dtype)], -1)
