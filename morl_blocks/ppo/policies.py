"""The actors as TorchRL policies: tensordict in, action and log-probability out."""

from collections.abc import Sequence

import torch
from tensordict import NestedKey, TensorDictBase
from tensordict.nn import ProbabilisticTensorDictModule, ProbabilisticTensorDictSequential, TensorDictModule
from torch import Tensor, distributions, nn
from torchrl.data import Categorical, OneHot, TensorSpec

from morl_blocks import _checks
from morl_blocks.ppo.distributions import unit_box_to_action

INPUTS: list[NestedKey] = ["observation", "preference"]


class DiagonalGaussian(distributions.Independent[distributions.Normal]):
    """A normal distribution with independent dimensions, from its mean and log standard deviation.

    Example:
        >>> DiagonalGaussian(torch.zeros(5, 2), torch.zeros(5, 2)).entropy()[0]
        tensor(2.8379)
    """

    def __init__(self, mean: Tensor, log_std: Tensor) -> None:
        super().__init__(distributions.Normal(mean, log_std.exp()), 1)

    @property
    def deterministic_sample(self) -> Tensor:
        """The mean, which TorchRL uses when exploration is off."""
        mean: Tensor = self.mean
        return mean


class Choice(distributions.Categorical):
    """A categorical distribution whose deterministic sample is the most likely action, since an index has no mean.

    Example:
        >>> Choice(logits=torch.tensor([0.0, 2.0, 1.0])).mean
        tensor(1)
    """

    @property
    def mean(self) -> Tensor:
        """The most likely action, which TorchRL uses for ``ExplorationType.MEAN`` and when exploration is off."""
        return self.mode

    deterministic_sample = mean


class OneHotChoice(Choice):
    """A categorical distribution over one-hot vectors ``[*B, a]``, int64.

    Example:
        >>> OneHotChoice(logits=torch.tensor([0.0, 2.0, 1.0])).mode
        tensor([0, 1, 0])
    """

    @property
    def mode(self) -> Tensor:
        """The most likely action; the first one in a tie."""
        return self._encode(super().mode)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw one-hot vectors, ``[*sample_shape, *B, a]``."""
        return self._encode(super().sample(torch.Size(sample_shape)))  # type: ignore[no-untyped-call]

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the log-probability of one-hot vectors ``[*B, a]``."""
        _checks.features("action", value, self._num_events)
        log_prob: Tensor = super().log_prob(value.argmax(-1))  # type: ignore[no-untyped-call]
        return log_prob

    def _encode(self, index: Tensor) -> Tensor:
        return nn.functional.one_hot(index, self._num_events)


class UnitBoxPolicy(ProbabilisticTensorDictSequential):
    """Act in the unit box and send the clipped, rescaled action to the environment.

    It writes ``"unit_action"`` (the sample as drawn), ``"action_log_prob"`` (its log-probability) and ``"action"`` (the
    sample clipped to the unit box and mapped to the action space). A loss must evaluate the sample as drawn:
    :class:`~morl_blocks.ppo.VectorClipPPOLoss` reads ``"unit_action"`` by default, TorchRL's own losses after
    ``loss.set_keys(action="unit_action")``.

    Args:
        actor: Module ``(observation, preference) -> (mean, log_std)`` with the mean in the unit box, such as
            :class:`~morl_blocks.ppo.UnitBoxGaussianActor`.
        low: Lower action bounds, a number or ``[a]``.
        high: Upper action bounds, a number or ``[a]``.
        in_keys: Keys of the actor's inputs.

    Example:
        >>> from tensordict import TensorDict
        >>> from morl_blocks.ppo import UnitBoxGaussianActor
        >>> policy = UnitBoxPolicy(UnitBoxGaussianActor(4, num_objectives=2, action_dim=3), low=-1.0, high=1.0)
        >>> data = policy(TensorDict({"observation": torch.zeros(5, 4), "preference": torch.full((5, 2), 0.5)}, [5]))
        >>> data["action"].shape, data["action_log_prob"].shape, bool((data["action"].abs() <= 1).all())
        (torch.Size([5, 3]), torch.Size([5]), True)
    """

    def __init__(
        self, actor: nn.Module, low: Tensor | float, high: Tensor | float, *, in_keys: list[NestedKey] = INPUTS
    ) -> None:
        _checks.module("actor", actor)
        _require_keys(in_keys)
        gaussian = ProbabilisticTensorDictModule(
            in_keys={"mean": "action_mean", "log_std": "action_log_std"},
            out_keys=["unit_action"],
            distribution_class=DiagonalGaussian,
            default_interaction_type="random",
            return_log_prob=True,
            log_prob_key="action_log_prob",
        )
        super().__init__(
            TensorDictModule(actor, in_keys=in_keys, out_keys=["action_mean", "action_log_std"]),
            gaussian,
            TensorDictModule(_BoxMap(low, high), in_keys=["unit_action"], out_keys=["action"]),
        )

    def get_dist(
        self, tensordict: TensorDictBase, tensordict_out: TensorDictBase | None = None, **kwargs: object
    ) -> distributions.Distribution:
        """Return the distribution of ``"unit_action"``."""
        policy: distributions.Distribution = self.build_dist_from_params(self[0](tensordict.select(*self[0].in_keys)))
        return policy


class CategoricalPolicy(ProbabilisticTensorDictSequential):
    """Choose among discrete actions; writes ``"action"`` and its ``"action_log_prob"``.

    The encoding must match the environment. TorchRL's ``GymEnv`` and ``MOGymEnv`` expect one-hot vectors unless they
    are built with ``categorical_action_encoding=True``, and would read every index as action 0. Pass the environment's
    ``action_spec`` as ``spec`` to use its encoding; a policy with another encoding raises an error.

    Args:
        actor: Module ``(observation, preference) -> logits``, such as :class:`~morl_blocks.ppo.CategoricalActor`.
        in_keys: Keys of the actor's inputs.
        one_hot: Whether actions are one-hot vectors ``[*B, a]`` instead of indices ``[*B]``; by default as in ``spec``,
            or indices without one.
        spec: The environment's ``action_spec``.

    Example:
        >>> from tensordict import TensorDict
        >>> from morl_blocks.ppo import CategoricalActor
        >>> policy = CategoricalPolicy(CategoricalActor(4, num_objectives=2, num_actions=3))
        >>> data = policy(TensorDict({"observation": torch.zeros(5, 4), "preference": torch.full((5, 2), 0.5)}, [5]))
        >>> data["action"].shape, data["action"].dtype
        (torch.Size([5]), torch.int64)
        >>> policy = CategoricalPolicy(CategoricalActor(4, num_objectives=2, num_actions=3), one_hot=True)
        >>> policy(data)["action"].shape
        torch.Size([5, 3])
    """

    def __init__(
        self,
        actor: nn.Module,
        *,
        in_keys: list[NestedKey] = INPUTS,
        one_hot: bool | None = None,
        spec: TensorSpec | None = None,
    ) -> None:
        _checks.module("actor", actor)
        _require_keys(in_keys)
        one_hot = bool(one_hot) if spec is None else encoding(spec, one_hot=one_hot)
        categorical = ProbabilisticTensorDictModule(
            in_keys={"logits": "action_logits"},
            out_keys=["action"],
            distribution_class=OneHotChoice if one_hot else Choice,
            default_interaction_type="random",
            return_log_prob=True,
            log_prob_key="action_log_prob",
        )
        super().__init__(TensorDictModule(actor, in_keys=in_keys, out_keys=["action_logits"]), categorical)


def _require_keys(in_keys: list[NestedKey]) -> None:
    if not isinstance(in_keys, list | tuple) or not all(isinstance(key, str | tuple) for key in in_keys):
        _checks.fail("in_keys", "be a list of keys", repr(in_keys))


def encoding(spec: TensorSpec, *, one_hot: bool | None = None) -> bool:
    """Return whether an environment takes one-hot vectors; raise if the policy uses another encoding.

    Example:
        >>> from torchrl.data import OneHot
        >>> encoding(OneHot(4))
        True
    """
    if not isinstance(spec, OneHot | Categorical):
        _checks.fail("spec", "be one discrete action, OneHot or Categorical", type(spec).__name__)
    wanted = isinstance(spec, OneHot)
    if one_hot is not None and bool(one_hot) != wanted:
        words = ("indices", "one-hot vectors")
        _checks.fail("one_hot", f"be {wanted} for an environment that takes {words[wanted]}", one_hot)
    return wanted


class _BoxMap(nn.Module):
    """Hold the action bounds and apply :func:`unit_box_to_action`."""

    low: Tensor
    high: Tensor

    def __init__(self, low: Tensor | float, high: Tensor | float) -> None:
        super().__init__()
        low, high = _checks.number("low", low), _checks.number("high", high)
        _checks.finite("low", low)
        _checks.finite("high", high)
        _checks.positive("high - low", high - low)
        self.register_buffer("low", low)
        self.register_buffer("high", high)

    def forward(self, unit_action: Tensor) -> Tensor:
        return unit_box_to_action(unit_action, self.low.to(unit_action), self.high.to(unit_action))
