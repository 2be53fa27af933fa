"""The value loss of PPO: the critic's own loss, other distances than the squared error, and clipped predictions."""

from collections.abc import Callable
from typing import Literal

import torch
from tensordict.nn import TensorDictModuleBase
from torch import Tensor, nn
from torch.nn import functional

from morl_blocks import _checks
from morl_blocks.critics import AttentionWeightedCritic, Critic, value_loss

Distance = Literal["l2", "l1", "smooth_l1"]
DISTANCES = {"l2": functional.mse_loss, "l1": functional.l1_loss, "smooth_l1": functional.smooth_l1_loss}
ValueLoss = Callable[[Tensor, Tensor, Tensor | None], Tensor]


def make_value_loss(network: nn.Module, distance: Distance) -> ValueLoss:
    """Return ``(values, targets, attention) -> loss`` for the critic in ``network``, which may be nested in it.

    With ``"l2"`` it is the critic's own ``loss``. Other distances are weighted over the objectives as the critic
    weights the squared error. A critic with a custom loss raises an error then, because its weights are not known.
    """
    _checks.choice("loss_critic_type", distance, tuple(DISTANCES))
    critics = _with_loss(network)
    if len(critics) > 1:
        _checks.fail("critic_network", "hold one critic with a loss", [type(critic).__name__ for critic in critics])
    critic = critics[0] if critics else None
    if distance == "l2":
        return _uniform if critic is None else critic.loss  # type: ignore[return-value]  # a method, not a Tensor
    known = critic is None or getattr(type(critic), "loss", None) in (Critic.loss, AttentionWeightedCritic.loss)
    if not known:
        rule = f"be 'l2' for {type(critic).__name__}, which has a loss of its own"
        _checks.fail("loss_critic_type", rule, repr(distance))
    return _Weighed(distance, attended=isinstance(critic, AttentionWeightedCritic))


def clip_values(values: Tensor, old_values: Tensor, targets: Tensor, limit: Tensor) -> tuple[Tensor, Tensor]:
    r"""Return the worse of each prediction and its clipped version, and the share of predictions out of range.

    .. math:: V^c_i = V^{old}_i + \operatorname{clip}(V_i - V^{old}_i, -c, c)

    The worse one is farther from the target, so any loss that grows with the distance takes the larger of the two
    values. The choice is made per objective.

    Args:
        values: Predictions, ``[*B, m]``.
        old_values: Predictions at the time of the rollout, ``[*B, m]``.
        targets: Targets, ``[*B, m]``.
        limit: Largest step c > 0, in the unit of the values.

    Returns:
        Predictions ``[*B, m]`` and a share, a scalar.

    Example:
        >>> old, target = torch.zeros(2), torch.ones(2)
        >>> clip_values(torch.tensor([0.5, -0.5]), old, target, torch.tensor(0.2))
        (tensor([ 0.2000, -0.5000]), tensor(1.))
    """
    step = values - old_values
    clipped = old_values + step.clamp(-limit, limit)
    share = (step.abs() > limit).to(values.dtype).mean()
    worse = (clipped - targets).abs() > (values - targets).abs()
    return torch.where(worse, clipped, values), share


class _Weighed:
    """A distance, weighted over the objectives uniformly or by the attention."""

    def __init__(self, distance: Distance, *, attended: bool) -> None:
        self.distance, self.attended = distance, attended

    def __call__(self, values: Tensor, targets: Tensor, attention: Tensor | None) -> Tensor:
        errors = DISTANCES[self.distance](values, targets, reduction="none")
        if not self.attended:
            return errors.mean()
        if attention is None:
            raise ValueError("`tensordict` must hold the attention for an AttentionWeightedCritic, got none.")
        _checks.objectives("attention", attention, errors.shape[-1], minimum=1)
        _checks.simplex("attention", attention)
        _checks.aligned("attention", attention, errors.shape)
        return (attention * errors).sum(-1).mean()


def _uniform(values: Tensor, targets: Tensor, attention: Tensor | None) -> Tensor:
    """Return the value loss of a critic without its own loss."""
    return value_loss(values, targets)


def _with_loss(module: nn.Module) -> list[nn.Module]:
    """Return the outermost modules that have their own ``loss``."""
    if isinstance(module, TensorDictModuleBase) or not hasattr(module, "loss"):
        found = [critic for child in module.children() for critic in _with_loss(child)]
        return list(dict.fromkeys(found))
    return [module]
