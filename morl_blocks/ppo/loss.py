"""PPO with one clipped objective per reward, as a TorchRL loss module."""

from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import torch
from tensordict import NestedKey, TensorDictBase
from tensordict.nn import ProbabilisticTensorDictSequential, TensorDictModule, dispatch
from torch import Tensor, distributions
from torchrl.objectives import LossModule

from morl_blocks import _checks
from morl_blocks.critics import AttentionWeightedCritic
from morl_blocks.ppo import _torchrl_options
from morl_blocks.ppo._losses import Losses
from morl_blocks.ppo._tensordict import (
    Steps,
    read,
    require_module,
    require_shape,
    require_vectors,
    take,
    valid_steps,
    written,
)
from morl_blocks.ppo._value_loss import Distance, clip_values, make_value_loss
from morl_blocks.ppo.advantage import vector_advantage
from morl_blocks.ppo.diagnostics import approximate_kl, clip_fraction, explained_variance
from morl_blocks.ppo.policies import UnitBoxPolicy
from morl_blocks.ppo.surrogate import ClippedSurrogate, ObjectiveLoss

REDUCTIONS = ("mean", "sum")
COEFFICIENTS = ("clip_epsilon", "entropy_coeff", "critic_coeff", "clip_value")


class VectorClipPPOLoss(LossModule):
    """The losses of PPO with one clipped objective per reward, for any TorchRL training loop.

    It reads the inputs of actor and critic, ``"action"`` (``"unit_action"`` for a
    :class:`~morl_blocks.ppo.UnitBoxPolicy`), ``"action_log_prob"``, ``"advantage"``, ``"value_target"`` and, for an
    :class:`~morl_blocks.critics.AttentionWeightedCritic`, ``"attention"``. If the critic reads intermediate outputs of
    the actor (features of a shared trunk), these are recomputed. It returns a tensordict without batch dimensions:

    - ``"loss_objective"``, ``[m]``: never summed or averaged over the objectives; pass it to
      :func:`~morl_blocks.ppo.combine_gradients`,
    - ``"loss_value"``, also read as ``"loss_critic"``: ``critic_coeff`` times the ``loss`` of the critic in
      ``critic_network``, which may be nested (uniform weights for a critic without one),
    - ``"loss_entropy"``: ``-entropy_coeff`` times the mean entropy, to be added once, after the combination,
    - diagnostics without gradient: ``"entropy"``, ``"kl_approx"``, ``"clip_fraction"`` and, per objective,
      ``"explained_variance"`` ``[m]``; with ``clip_value`` also ``"value_clip_fraction"``.

    Advantages belong to the rollout, not to the minibatch: compute them first with
    :class:`~morl_blocks.ppo.VectorGAE` and standardise them with :func:`~morl_blocks.ppo.vector_advantage`.
    Shapes that would broadcast and numbers that are not finite raise an error. Unlike most TorchRL losses this one is
    not functionalised: its parameters are those of the two networks. To train many runs at once use
    :func:`~morl_blocks.ppo.clipped_objectives`.
    Steps that TorchRL marks as padding (``("collector", "mask")`` of a ``SliceSampler`` with ``pad_output=True``) do
    not count; ``loss.loss_mask_key`` names another mask, as in TorchRL.
    The coefficients are buffers; ``loss.clip_epsilon = 0.1`` sets one in place, as in TorchRL.

    Args:
        actor_network: Policy with ``get_dist``, such as :class:`~morl_blocks.ppo.UnitBoxPolicy`.
        critic_network: Tensordict module that writes the values ``[*B, m]``.
        clip_epsilon: Clip range, > 0.
        entropy_coeff: Weight of the entropy bonus, >= 0.
        critic_coeff: Weight of the value loss, >= 0.
        num_advantages: Advantages per step; by default one per value target. Pass 1 for a scalarised advantage ``[*B,
            1]``.
        objective_loss: Maps probabilities and advantages to one loss per objective; PPO's clipped surrogate by default.
        entropy_bonus: Return ``"loss_entropy"``; the entropy is reported in any case.
        normalize_advantage: Standardise each objective's advantages over the minibatch, never over the objectives.
        loss_critic_type: Distance of values to targets: ``"l2"`` (the critic's own loss), ``"l1"`` or ``"smooth_l1"``.
        clip_value: Largest change of a value from that in the tensordict, > 0; ``True`` uses ``clip_epsilon``.
        reduction: ``"mean"`` or ``"sum"`` of the losses over the minibatch. ``"none"`` raises an error, because a
            combiner takes one number per objective.
        device: Device of the coefficients; by default that of the networks, which are not moved.
        **refused: Options of ``ClipPPOLoss`` that have no meaning here; each raises an error with the reason.

    Example:
        >>> from tensordict import TensorDict
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
    clip_epsilon: Tensor
    entropy_coeff: Tensor
    critic_coeff: Tensor
    clip_value: Tensor | None

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
        entropy_bonus: bool = True,
        normalize_advantage: bool = False,
        loss_critic_type: Distance = "l2",
        clip_value: float | bool | None = None,
        reduction: Literal["mean", "sum"] = "mean",
        device: torch.device | str | None = None,
        **refused: Any,
    ) -> None:
        super().__init__()
        _checks.device("device", device)
        _torchrl_options.refuse("VectorClipPPOLoss", refused, _torchrl_options.LOSS)
        require_module("actor_network", actor_network, "get_dist")
        require_module("critic_network", critic_network)
        clip_value = (clip_epsilon if clip_value else None) if isinstance(clip_value, bool) else clip_value
        coefficients = {"clip_epsilon": clip_epsilon, "entropy_coeff": entropy_coeff, "critic_coeff": critic_coeff}
        _check_options(coefficients, clip_value, num_advantages, reduction)
        for name, flag in (("entropy_bonus", entropy_bonus), ("normalize_advantage", normalize_advantage)):
            _checks.boolean(name, flag)
        self.actor_network = actor_network
        self.critic_network = critic_network
        self.num_advantages = num_advantages
        self.objective_loss = ClippedSurrogate() if objective_loss is None else objective_loss
        self.entropy_bonus, self.normalize_advantage, self.reduction = entropy_bonus, normalize_advantage, reduction
        self.loss_critic_type = loss_critic_type
        self._weighted = any(isinstance(module, AttentionWeightedCritic) for module in critic_network.modules())
        self._value_loss = make_value_loss(critic_network, loss_critic_type)
        place = next((p.device for p in self.parameters()), None) if device is None else device
        for name, number in {**coefficients, "clip_value": clip_value}.items():
            value = None if number is None else torch.tensor(number, device=place, dtype=torch.get_default_dtype())
            self.register_buffer(name, value)
        if isinstance(actor_network, UnitBoxPolicy):
            self.set_keys(action="unit_action")

    def __setattr__(self, name: str, value: Any) -> None:
        """Write a coefficient into its buffer, so that it can be scheduled; TorchRL's own losses do so since 0.14."""
        buffer = self.__dict__.get("_buffers", {}).get(name) if name in COEFFICIENTS else None
        if buffer is None:
            super().__setattr__(name, value)
        else:
            buffer.copy_(torch.as_tensor(value, dtype=buffer.dtype, device=buffer.device))

    @property
    def functional(self) -> bool:
        """Always ``False``: the parameters stay in the networks."""
        return False

    @property
    def in_keys(self) -> list[NestedKey]:
        """Input keys."""
        keys = self.tensor_keys
        fresh = set(self.actor_network.out_keys)
        inputs = [*self.actor_network.in_keys, *(key for key in self.critic_network.in_keys if key not in fresh)]
        inputs += [keys.action, keys.sample_log_prob, keys.advantage, keys.value_target]
        inputs += [keys.attention] if self._weighted else []
        inputs += [] if self.clip_value is None else [keys.value]
        return list(dict.fromkeys(inputs))

    @property
    def out_keys(self) -> list[NestedKey]:
        """Output keys."""
        losses = ["loss_objective", "loss_value", *(["loss_entropy"] if self.entropy_bonus else [])]
        watched = ["entropy", "kl_approx", "clip_fraction", "explained_variance"]
        return [*losses, *watched, *([] if self.clip_value is None else ["value_clip_fraction"])]

    @dispatch
    def forward(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Return the losses and diagnostics of a minibatch, a tensordict of batch size ``[*B]``."""
        keys, batch = self.tensor_keys, tensordict.batch_size
        advantage, target = read(tensordict, keys.advantage), read(tensordict, keys.value_target)
        old_log_prob = read(tensordict, keys.sample_log_prob)
        inputs = take(tensordict, self.actor_network.in_keys)
        policy = self.actor_network.get_dist(inputs)
        log_prob = _log_prob(policy, read(tensordict, keys.action))
        value = self._value(tensordict, inputs)
        require_vectors("value_target", target, batch)
        require_shape("state_value", value, target.shape)
        require_shape("advantage", advantage, torch.Size([*batch, self.num_advantages or target.shape[-1]]))
        require_shape("log_prob", log_prob, batch)
        require_shape("sample_log_prob", old_log_prob, batch)
        valid = valid_steps(tensordict, getattr(self, "loss_mask_key", "auto"))
        advantage, target, value = advantage[valid], target[valid], value[valid]
        log_prob, old_log_prob = log_prob[valid], old_log_prob[valid]
        given = {"advantage": advantage, "value_target": target, "sample_log_prob": old_log_prob}
        for name, number in {**given, "state_value": value, "log_prob": log_prob}.items():
            _checks.finite(name, number)
        advantage, log_prob, old_log_prob = advantage.flatten(0, -2), log_prob.flatten(), old_log_prob.flatten()
        if self.normalize_advantage:
            advantage = vector_advantage(advantage)

        scale = len(log_prob) if self.reduction == "sum" else 1
        entropy = _entropy(policy)[valid].mean()
        result = {
            "loss_objective": scale
            * self.objective_loss(log_prob, old_log_prob.detach(), advantage.detach(), self.clip_epsilon),
            **self._critic_losses(tensordict, value, target.detach(), valid, scale),
            "entropy": entropy.detach(),
            "kl_approx": approximate_kl(log_prob.detach(), old_log_prob.detach()),
            "clip_fraction": clip_fraction(log_prob.detach(), old_log_prob.detach(), self.clip_epsilon),
        }
        if self.entropy_bonus:
            result["loss_entropy"] = -scale * self.entropy_coeff * entropy
        return Losses({key: result[key] for key in self.out_keys}, batch_size=[])

    def _value(self, tensordict: TensorDictBase, computed: TensorDictBase) -> Tensor:
        """Return the critic's values; intermediate outputs of the actor are recomputed, not read from the rollout."""
        fresh = set(self.actor_network.out_keys)
        shared = [key for key in self.critic_network.in_keys if key in fresh]
        inputs = take(tensordict, [key for key in self.critic_network.in_keys if key not in fresh])
        if shared:
            inputs = inputs.update(take(computed, shared))
        output = self.critic_network(inputs)
        return written("critic_network", self.critic_network, output, self.tensor_keys.value)

    def _critic_losses(
        self, tensordict: TensorDictBase, value: Tensor, target: Tensor, valid: Steps, scale: int
    ) -> dict[str, Tensor]:
        """Return the critic's loss and its diagnostics."""
        keys, result, judged = self.tensor_keys, {}, value
        if self.clip_value is not None:
            old = read(tensordict, keys.value)[valid]
            require_shape("old state_value", old, value.shape)
            _checks.finite("old state_value", old)
            judged, result["value_clip_fraction"] = clip_values(value, old.detach(), target, self.clip_value)
        attention = tensordict.get(keys.attention, None)
        loss = self._value_loss(judged, target, None if attention is None else attention[valid])
        result["loss_value"] = scale * self.critic_coeff * loss
        result["explained_variance"] = explained_variance(value.detach().flatten(0, -2), target.flatten(0, -2))
        return result

    def make_value_estimator(self, value_type: object = None, **hyperparams: object) -> NoReturn:
        """Raise: advantages are computed on the rollout by :class:`~morl_blocks.ppo.VectorGAE`."""
        raise NotImplementedError(
            "VectorClipPPOLoss has no value estimator: call VectorGAE on the rollout before the loss."
        )

    def _forward_value_estimator_keys(self, **kwargs: NestedKey) -> None:
        """Do nothing: the value estimator is a separate block."""


def _log_prob(policy: distributions.Distribution, action: Tensor) -> Tensor:
    """Return the log-probability of actions, or raise if they are not actions of this policy."""
    try:
        return policy.log_prob(action)
    except (RuntimeError, IndexError, ValueError, TypeError) as error:
        raise ValueError(
            f"`action` must hold actions of the policy, got {action.dtype} of shape {list(action.shape)}."
        ) from error


def _entropy(policy: distributions.Distribution) -> Tensor:
    """Return the entropy, in closed form or, if there is none, estimated from one sample."""
    try:
        return policy.entropy()
    except NotImplementedError:
        return -policy.log_prob(policy.rsample())


def _check_options(
    coefficients: dict[str, float], clip_value: float | None, num_advantages: int | None, reduction: str
) -> None:
    """Require numbers in their ranges and a reduction that leaves one number per objective."""
    _checks.positive("clip_epsilon", coefficients["clip_epsilon"])
    for name in ("entropy_coeff", "critic_coeff"):
        _checks.between(name, coefficients[name], 0.0, torch.inf, bounds="[)")
    if clip_value is not None:
        _checks.positive("clip_value", clip_value)
    if num_advantages is not None:
        _checks.at_least("num_advantages", num_advantages, 1)
    if reduction not in REDUCTIONS:
        rule = "be 'mean' or 'sum' (a combiner takes one number per objective)"
        _checks.fail("reduction", rule, repr(reduction))
