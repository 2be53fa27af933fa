"""Actors: networks from observation and preference to a distribution over actions.

An :class:`Actor` is a network with the functions of its distribution that PPO needs. The trainer, the policies for
TorchRL and the saved policies all call these functions; a custom actor implements the same ones.
"""

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from morl_blocks import _checks
from morl_blocks._networks import Initialisation, initialise, join, trunk
from morl_blocks.ppo import distributions

INITIAL_LOG_STD = -0.5
OUTPUT_GAIN = 0.01
"""Gain of an actor's last layer under ``init="orthogonal"``: the first actions hardly depend on the observation."""


class Actor(nn.Module, ABC):
    """Map observation and preference to a distribution over actions.

    :meth:`forward` returns the distribution's parameters (one tensor or a tuple of them, ``[*B, ...]``), called
    ``output`` below. The other methods are functions of that output. Continuous actions lie in the unit box, ``[*B,
    a]``, and may leave it; discrete actions are indices, ``[*B]``. Noise is an argument, so that every run can use its
    own generator.

    Attributes:
        noise: Kind of noise that :meth:`sample` takes: standard normal, or uniform in ``[0, 1)``.
        noise_dim: Size of the noise per action.
    """

    noise: ClassVar[Literal["normal", "uniform"]] = "normal"
    noise_dim: int

    @abstractmethod
    def forward(self, observation: Tensor, preference: Tensor) -> Any:
        """Return the parameters of the distribution for ``[*B, n]`` and ``[*B, m]`` or ``[m]``."""

    @abstractmethod
    def sample(self, output: Any, noise: Tensor) -> Tensor:
        """Draw actions from noise, ``[*B, noise_dim]``."""

    @abstractmethod
    def mode(self, output: Any) -> Tensor:
        """Return the most likely actions."""

    @abstractmethod
    def log_prob(self, output: Any, action: Tensor) -> Tensor:
        """Return the log-probability of actions as drawn, ``[*B]``."""

    @abstractmethod
    def entropy(self, output: Any) -> Tensor:
        """Return the entropy, ``[*B]``."""

    def kl(self, output: Any, other: Any) -> Tensor:
        """Return the divergence of one distribution from another, ``[*B]``; only some penalties need it."""
        raise ValueError(f"`actor` must implement `kl` for this penalty, got {type(self).__name__}.")


class UnitBoxGaussianActor(Actor):
    r"""Map observation and preference to a Gaussian whose mean lies in the unit box.

    Hidden layers and a sigmoid give the mean; the log standard deviation is one free parameter per action dimension,
    initialised to ``log_std``. The default is wide, 0.6 in a box of length 1: two of five initial actions are clipped.
    With -1.5 few are. With the default sizes the actor has :math:`64(n+m) + 4224 + 66a` parameters. Samples may leave
    the box: compute log-probabilities of the samples as drawn and send their
    :func:`~morl_blocks.ppo.unit_box_to_action` to the environment.

    Args:
        observation_dim: Size of an observation, n.
        num_objectives: Number of objectives, m.
        action_dim: Size of an action, a.
        hidden: Width of the hidden layers.
        depth: Number of hidden layers.
        activation: Activation module class.
        init: PyTorch's ``"default"``, or ``"orthogonal"`` with a small last layer.
        log_std: Log standard deviation at the start.

    Example:
        >>> actor = UnitBoxGaussianActor(observation_dim=30, num_objectives=3, action_dim=2)
        >>> mean, log_std = actor(torch.zeros(5, 30), torch.full((3,), 1 / 3))
        >>> mean.shape, log_std[0].tolist(), sum(p.numel() for p in actor.parameters())
        (torch.Size([5, 2]), [-0.5, -0.5], 6468)
    """

    def __init__(
        self,
        observation_dim: int,
        num_objectives: int,
        action_dim: int,
        hidden: int = 64,
        depth: int = 2,
        activation: type[nn.Module] = nn.Tanh,
        init: Initialisation = "default",
        log_std: float = INITIAL_LOG_STD,
    ) -> None:
        super().__init__()
        _checks.at_least("action_dim", action_dim, 1)
        self.observation_dim, self.num_objectives, self.noise_dim = observation_dim, num_objectives, action_dim
        self.trunk = trunk(observation_dim, num_objectives, hidden, depth, activation)
        self.mean = nn.Linear(hidden, action_dim)
        if not isinstance(log_std, (int, float)) or not math.isfinite(log_std):
            _checks.fail("log_std", "be a finite number", repr(log_std))
        self.log_std = nn.Parameter(torch.full((action_dim,), float(log_std)))
        initialise(self, init, [self.mean], OUTPUT_GAIN)

    def forward(self, observation: Tensor, preference: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and log standard deviation, both ``[*B, a]``, for ``[*B, n]`` and ``[*B, m]`` or ``[m]``."""
        inputs = join(observation, preference, self.observation_dim, self.num_objectives, self.trunk)
        mean = self.mean(self.trunk(inputs)).sigmoid()
        return mean, self.log_std.expand_as(mean)

    def sample(self, output: tuple[Tensor, Tensor], noise: Tensor) -> Tensor:
        """Draw unit-box actions, ``[*B, a]``; not clipped."""
        return distributions.gaussian_sample(*output, noise)

    def mode(self, output: tuple[Tensor, Tensor]) -> Tensor:
        """Return the mean, ``[*B, a]``."""
        return output[0]

    def log_prob(self, output: tuple[Tensor, Tensor], action: Tensor) -> Tensor:
        """Return log-densities of unclipped actions, ``[*B]``."""
        return distributions.gaussian_log_prob(action, *output)

    def entropy(self, output: tuple[Tensor, Tensor]) -> Tensor:
        """Return the entropy, ``[*B]``; it does not depend on the mean."""
        return distributions.gaussian_entropy(output[1])

    def kl(self, output: tuple[Tensor, Tensor], other: tuple[Tensor, Tensor]) -> Tensor:
        """Return divergences, ``[*B]``."""
        return distributions.gaussian_kl(*output, *other)


class CategoricalActor(Actor):
    r"""Map observation and preference to the logits of a categorical distribution over ``num_actions`` choices.

    Args:
        observation_dim: Size of an observation, n.
        num_objectives: Number of objectives, m.
        num_actions: Number of actions, k.
        hidden: Width of the hidden layers.
        depth: Number of hidden layers.
        activation: Activation module class.
        init: PyTorch's ``"default"``, or ``"orthogonal"`` with a small last layer.

    Example:
        >>> actor = CategoricalActor(observation_dim=2, num_objectives=2, num_actions=4)
        >>> actor(torch.zeros(5, 2), torch.tensor([0.5, 0.5])).shape
        torch.Size([5, 4])
    """

    noise = "uniform"

    def __init__(
        self,
        observation_dim: int,
        num_objectives: int,
        num_actions: int,
        hidden: int = 64,
        depth: int = 2,
        activation: type[nn.Module] = nn.Tanh,
        init: Initialisation = "default",
    ) -> None:
        super().__init__()
        _checks.at_least("num_actions", num_actions, 2)
        self.observation_dim, self.num_objectives, self.noise_dim = observation_dim, num_objectives, num_actions
        self.trunk = trunk(observation_dim, num_objectives, hidden, depth, activation)
        self.logits = nn.Linear(hidden, num_actions)
        initialise(self, init, [self.logits], OUTPUT_GAIN)

    def forward(self, observation: Tensor, preference: Tensor) -> Tensor:
        """Return logits, ``[*B, k]``, for ``[*B, n]`` and ``[*B, m]`` or ``[m]``."""
        inputs = join(observation, preference, self.observation_dim, self.num_objectives, self.trunk)
        logits: Tensor = self.logits(self.trunk(inputs))
        return logits

    def sample(self, output: Tensor, noise: Tensor) -> Tensor:
        """Draw indices, ``[*B]``, int64."""
        return distributions.categorical_sample(output, noise)

    def mode(self, output: Tensor) -> Tensor:
        """Return the index of the largest logit, ``[*B]``."""
        return output.argmax(-1)

    def log_prob(self, output: Tensor, action: Tensor) -> Tensor:
        """Return log-probabilities of indices ``[*B]``."""
        return distributions.categorical_log_prob(action, output)

    def entropy(self, output: Tensor) -> Tensor:
        """Return entropies, ``[*B]``."""
        return distributions.categorical_entropy(output)

    def kl(self, output: Tensor, other: Tensor) -> Tensor:
        """Return divergences, ``[*B]``."""
        return distributions.categorical_kl(output, other)
