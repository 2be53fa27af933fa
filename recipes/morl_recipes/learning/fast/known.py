"""Which blocks the fast update knows: exactly these classes, for it writes out their derivatives."""

from torch import nn

from morl_blocks.critics import AttentionWeightedCritic, BranchedCritic, SharedCritic
from morl_blocks.ppo import CategoricalActor, ClippedSurrogate, UnitBoxGaussianActor


def unknown_block(actor: nn.Module, critic: nn.Module, loss: nn.Module) -> str | None:
    """Return the name of a block that the fast update does not know; ``None`` when it knows them all.

    Example:
        >>> unknown_block(CategoricalActor(4, 2, 3), SharedCritic(4, 2), ClippedSurrogate()) is None
        True
        >>> unknown_block(CategoricalActor(4, 2, 3, activation=nn.ReLU), SharedCritic(4, 2), ClippedSurrogate())
        'ReLU in CategoricalActor'
    """
    inner = critic.critic if type(critic) is AttentionWeightedCritic else critic
    if type(actor) not in (UnitBoxGaussianActor, CategoricalActor):
        return type(actor).__name__
    if type(inner) not in (BranchedCritic, SharedCritic):
        return type(inner).__name__
    if type(loss) is not ClippedSurrogate:
        return type(loss).__name__
    for network in (actor, inner):
        strange = [layer for layer in network.modules() if _is_activation(layer) and type(layer) is not nn.Tanh]
        if strange:
            return f"{type(strange[0]).__name__} in {type(network).__name__}"
        if not all(parameter.requires_grad for parameter in network.parameters()):
            return f"frozen parameters in {type(network).__name__}"
    return None


def _is_activation(layer: nn.Module) -> bool:
    return not list(layer.children()) and not list(layer.parameters(recurse=False))
