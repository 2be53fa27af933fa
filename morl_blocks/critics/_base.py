"""The base class of critics: its input, its loss and the value loss."""

from abc import ABC, abstractmethod

from torch import Tensor, nn

from morl_blocks import _checks
from morl_blocks._networks import Initialisation, initialise, join, trunk


def value_loss(values: Tensor, targets: Tensor, attention: Tensor | None = None) -> Tensor:
    r"""Average the squared value errors over time, weighted over the objectives (minimise).

    .. math:: L = \frac{1}{N} \sum_t \sum_i \eta_{t,i} \, (V_i(s_t) - y_{t,i})^2

    Without attention every objective has the weight :math:`1/m`.

    Args:
        values: Predicted values, ``[*B, m]``.
        targets: Targets, ``[*B, m]``.
        attention: Weights that sum to 1 over the objectives, ``[m]`` or ``[*B, m]``; uniform by default.

    Returns:
        Loss, a scalar.

    Example:
        >>> import torch
        >>> value_loss(torch.tensor([[1.0, 2.0]]), torch.zeros(1, 2), torch.tensor([0.25, 0.75]))
        tensor(3.2500)
        >>> value_loss(torch.tensor([[1.0, 2.0]]), torch.zeros(1, 2))
        tensor(2.5000)
    """
    values, targets = _checks.alike(values=values, targets=targets)
    _checks.objectives("values", values, minimum=1)
    if values.shape != targets.shape:
        _checks.fail("targets", f"have the shape of values {list(values.shape)}", f"shape {list(targets.shape)}")
    if not values.numel():
        _checks.fail("values", "hold at least one number", f"shape {list(values.shape)}")
    errors = (values - targets).square()
    if attention is None:
        return errors.mean(-1).mean()
    attention = _checks.like("attention", attention, values)
    _checks.objectives("attention", attention, values.shape[-1], minimum=1)
    _checks.aligned("attention", attention, values.shape)
    return (attention * errors).sum(-1).mean()


def checked_loss(values: Tensor, targets: Tensor, attention: Tensor | None = None) -> Tensor:
    """Return :func:`value_loss` of finite numbers; others raise, because training would continue with NaN."""
    values, targets = _checks.alike(values=values, targets=targets)
    _checks.finite("values", values)
    _checks.finite("targets", targets)
    loss = value_loss(values, targets, attention)
    _checks.no_overflow("values", loss, values, targets=targets)
    return loss


class Critic(nn.Module, ABC):
    """Predict one value per objective from observation and preference.

    This class builds the trunk over observation and preference. A subclass adds the layers from its features to values
    in :meth:`add_output` and applies them in ``forward``. Any other module ``(observation, preference) -> [*B, m]`` can
    serve as a critic too, with or without its own ``loss``.

    observation_dim: Size of an observation, n.
        observation_dim: Numbers in an observation, n.
        num_objectives: Number of objectives, m.
        hidden: Width of every hidden layer.
        depth: Hidden layers of the trunk.
        activation: Activation module class.
        init: PyTorch's ``"default"``, or ``"orthogonal"``.
    """

    def __init__(
        self,
        observation_dim: int,
        num_objectives: int,
        hidden: int = 64,
        depth: int = 2,
        activation: type[nn.Module] = nn.Tanh,
        init: Initialisation = "default",
    ) -> None:
        super().__init__()
        self.observation_dim = observation_dim
        self.num_objectives = num_objectives
        self.trunk = trunk(observation_dim, num_objectives, hidden, depth, activation)
        initialise(self, init, [self.add_output(hidden, activation)], 1.0)

    @abstractmethod
    def add_output(self, hidden: int, activation: type[nn.Module]) -> nn.Module:
        """Add the layers from the trunk's features to the values and return the last layer."""

    def loss(self, values: Tensor, targets: Tensor, attention: Tensor | None = None) -> Tensor:
        """Return the value loss with the weight 1/m for every objective.

        ``attention`` is accepted but ignored, so that critics are interchangeable; wrap the critic in
        ``AttentionWeightedCritic`` to use it.
        """
        return checked_loss(values, targets)

    def features(self, observation: Tensor, preference: Tensor) -> Tensor:
        """Return the trunk's features of ``[s, w]``, with the preference repeated over the batch, ``[*B, hidden]``."""
        joined = join(observation, preference, self.observation_dim, self.num_objectives, self.trunk)
        features: Tensor = self.trunk(joined)
        return features
