"""PPO with one clipped objective per reward, as a TorchRL loss module."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

import torch
from tensordict import NestedKey, TensorDict, TensorDictBase
from tensordict.nn import ProbabilisticTensorDictSequential, TensorDictModule, TensorDictModuleBase, dispatch
from torch import Tensor, distributions, nn
from torchrl.objectives import LossModule

from morl_blocks import _checks
from morl_blocks.critics import AttentionWeightedCritic, value_loss
from morl_blocks.ppo._tensordict import read, require_module, require_shape, require_vectors, take, written
from morl_blocks.ppo.diagnostics import approximate_kl, clip_fraction, explained_variance
from morl_blocks.ppo.policies import UnitBoxPolicy
from morl_blocks.ppo.surrogate import ClippedSurrogate, ObjectiveLoss


class VectorClipPPOLoss(LossModule):
    """The losses of PPO with one clipped objective per reward, for any TorchRL training loop.

    Reads the inputs of actor and critic, ``"action"`` (``"unit_action"`` for a
    :class:`~morl_blocks.ppo.UnitBoxPolicy`), ``"action_log_prob"``, ``"advantage"``, ``"value_target"`` and, for an
    :class:`~morl_blocks.critics.AttentionWeightedCritic`, ``"attention"``. Returns a tensordict without batch:

    - ``"loss_objective"``, ``[m]``: never summed or averaged over the objectives; hand it to
      :func:`~morl_blocks.ppo.combine_gradients`,
    - ``"loss_value"``: ``critic_coeff`` times the critic's own ``loss``, wherever in ``critic_network`` the critic sits
      (uniform weights for a critic without one),
    - ``"loss_entropy"``: ``-entropy_coeff`` times the mean entropy, to be added once, after the combination,
    - for watching, without gradient: ``"entropy"``, ``"kl_approx"``, ``"clip_fraction"`` and, per objective,
      ``"explained_variance"`` ``[m]``.

    Advantages belong to the rollout, not to the minibatch: compute them first with
    :class:`~morl_blocks.ppo.VectorGAE` and standardise them with :func:`~morl_blocks.ppo.vector_advantage`.
    A shape that would broadcast is an error. Unlike most TorchRL losses this one is not functionalised: its parameters
    are those of the two networks. To train many runs at once use :func:`~morl_blocks.ppo.clipped_objectives`.

    Args:
        actor_network: Policy with ``get_dist``, such as :class:`~morl_blocks.ppo.UnitBoxPolicy`.
        critic_network: Tensordict module that writes the values ``[*B, m]``.
        clip_epsilon: Clip range, > 0.
        entropy_coeff: Weight of the entropy bonus, >= 0.
        critic_coeff: Weight of the value loss, >= 0.
        num_advantages: Advantages per step; by default one per value target. Say 1 for a scalarised advantage
            ``[*B, 1]``.
        objective_loss: From probabilities and advantages to one loss per objective; PPO's clipped surrogate by default.

    Example:
        >>> from morl_blocks.critics import BranchedCritic
        >>> from morl_blocks.ppo import CategoricalActor, CategoricalPolicy
        >>> policy = CategoricalPolicy(CategoricalActor(4, num_objectives=2, num_actions=3))
        >>> critic = TensorDictModule(BranchedCritic(4, 2), ["observation", "preference"], ["state_value"])
        >>> data = TensorDict({"observation": torch.zeros(5, 4), "preference": torch.full((5, 2), 0.5)}, [5])
        >>> data = policy(data).update({"advantage": torch.ones(5, 2), "value_target": torch.ones(5, 2)})
        >>> VectorClipPPOLoss(policy, critic)(data)["loss_objective"].detach()
        tensor([-1., -1.])
    """

    @dataclass
    class _AcceptedKeys:
        advantage: NestedKey = "advantage"
        value_target: NestedKey = "value_target"
        value: NestedKey = "state_value"
        action: NestedKey = "action"
        sample_log_prob: NestedKey = "action_log_prob"
        attention: NestedKey = "attention"

    default_keys = _AcceptedKeys
    out_keys = (
        "loss_objective",
        "loss_value",
        "loss_entropy",
        "entropy",
        "kl_approx",
        "clip_fraction",
        "explained_variance",
    )

    def __init__(
        self,
        actor_network: ProbabilisticTensorDictSequential,
        critic_network: TensorDictModule,
        *,
        clip_epsilon: float = 0.2,
        entropy_coeff: float = 0.01,
        critic_coeff: float = 0.5,
        num_advantages: int | None = None,
        objective_loss: ObjectiveLoss | None = None,
    ) -> None:
        super().__init__()
        require_module("actor_network", actor_network, "get_dist")
        require_module("critic_network", critic_network)
        _checks.positive("clip_epsilon", clip_epsilon)
        _checks.between("entropy_coeff", entropy_coeff, 0.0, torch.inf, bounds="[)")
        _checks.between("critic_coeff", critic_coeff, 0.0, torch.inf, bounds="[)")
        if num_advantages is not None:
            _checks.at_least("num_advantages", num_advantages, 1)
        self.actor_network = actor_network
        self.critic_network = critic_network
        self.clip_epsilon = clip_epsilon
        self.entropy_coeff = entropy_coeff
        self.critic_coeff = critic_coeff
        self.num_advantages = num_advantages
        self.objective_loss = ClippedSurrogate() if objective_loss is None else objective_loss
        self._weighted = any(isinstance(module, AttentionWeightedCritic) for module in critic_network.modules())
        self._value_loss = _value_loss(critic_network)
        if isinstance(actor_network, UnitBoxPolicy):
            self.set_keys(action="unit_action")

    @property
    def functional(self) -> bool:
        """No: the parameters stay in the networks."""
        return False

    @property
    def in_keys(self) -> list[NestedKey]:
        """What is read from the tensordict."""
        keys = self.tensor_keys
        inputs = [*self.actor_network.in_keys, *self.critic_network.in_keys]
        inputs += [keys.action, keys.sample_log_prob, keys.advantage, keys.value_target]
        inputs += [keys.attention] if self._weighted else []
        return list(dict.fromkeys(inputs))

    @dispatch
    def forward(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Return the losses and diagnostics of a minibatch, a tensordict of batch size ``[*B]``."""
        keys, batch = self.tensor_keys, tensordict.batch_size
        advantage, target = read(tensordict, keys.advantage), read(tensordict, keys.value_target)
        old_log_prob = read(tensordict, keys.sample_log_prob)
        policy = self.actor_network.get_dist(take(tensordict, self.actor_network.in_keys))
        log_prob = _log_prob(policy, read(tensordict, keys.action))
        output = self.critic_network(take(tensordict, self.critic_network.in_keys))
        value = written("critic_network", self.critic_network, output, keys.value)
        require_vectors("value_target", target, batch)
        require_shape("state_value", value, target.shape)
        require_shape("advantage", advantage, torch.Size([*batch, self.num_advantages or target.shape[-1]]))
        require_shape("log_prob", log_prob, batch)
        require_shape("sample_log_prob", old_log_prob, batch)
        for name, number in (("advantage", advantage), ("value_target", target), ("sample_log_prob", old_log_prob)):
            _checks.finite(name, number)
        advantage, log_prob, old_log_prob = advantage.flatten(0, -2), log_prob.flatten(), old_log_prob.flatten()

        losses = self.objective_loss(log_prob, old_log_prob.detach(), advantage.detach(), self.clip_epsilon)
        critic_loss = self._value_loss(value, target.detach(), tensordict.get(keys.attention, None))
        entropy = _entropy(policy).mean()
        with torch.no_grad():
            watched = {
                "entropy": entropy.detach(),
                "kl_approx": approximate_kl(log_prob, old_log_prob),
                "clip_fraction": clip_fraction(log_prob, old_log_prob, self.clip_epsilon),
                "explained_variance": explained_variance(value.flatten(0, -2), target.flatten(0, -2)),
            }
        return TensorDict(
            {
                "loss_objective": losses,
                "loss_value": self.critic_coeff * critic_loss,
                "loss_entropy": -self.entropy_coeff * entropy,
                **watched,
            },
            batch_size=[],
        )

    def make_value_estimator(self, value_type: object = None, **hyperparams: object) -> NoReturn:
        """Refuse: advantages belong to the rollout, and :class:`~morl_blocks.ppo.VectorGAE` computes them there."""
        raise NotImplementedError(
            "VectorClipPPOLoss has no value estimator: call VectorGAE on the rollout before the loss."
        )

    def _forward_value_estimator_keys(self, **kwargs: NestedKey) -> None:
        """Do nothing: the value estimator is a block of its own."""


def _log_prob(policy: distributions.Distribution, action: Tensor) -> Tensor:
    """Return the log-probability of actions, or say that they are none of this policy's."""
    try:
        return policy.log_prob(action)
    except (RuntimeError, IndexError, ValueError, TypeError) as error:
        raise ValueError(
            f"`action` must hold actions of the policy, got {action.dtype} of shape {list(action.shape)}."
        ) from error


def _entropy(policy: distributions.Distribution) -> Tensor:
    """Return the entropy, in closed form or, where there is none, estimated from one sample."""
    try:
        return policy.entropy()
    except NotImplementedError:
        return -policy.log_prob(policy.rsample())


def _value_loss(network: nn.Module) -> Callable[..., Tensor]:
    """Return the loss of the one critic in ``network`` that has one, else the uniform loss."""
    critics = _with_loss(network)
    if len(critics) > 1:
        _checks.fail("critic_network", "hold one critic with a loss", [type(critic).__name__ for critic in critics])
    return critics[0].loss if critics else _uniform_value_loss  # type: ignore[return-value]  # a method, not a Tensor


def _with_loss(module: nn.Module) -> list[nn.Module]:
    """Return the outermost modules that have a ``loss`` of their own."""
    if isinstance(module, TensorDictModuleBase) or not hasattr(module, "loss"):
        found = [critic for child in module.children() for critic in _with_loss(child)]
        return list(dict.fromkeys(found))
    return [module]


def _uniform_value_loss(values: Tensor, targets: Tensor, attention: Tensor | None) -> Tensor:
    """Return the value loss of a critic that has none of its own."""
    return value_loss(values, targets)
