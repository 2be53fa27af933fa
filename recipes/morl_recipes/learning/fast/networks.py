"""Small networks for R runs at once: forward and hand-written backward as batched matrix products.

The parameters are those of the ordinary modules of :mod:`morl_blocks`, stacked; the results equal those of autograd
(tests compare them). Explicit backpropagation makes an eager update several times faster, and gives the per-sample
errors from which :mod:`~morl_recipes.learning.fast.update` computes all objectives' inner products.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from morl_blocks.critics import AttentionWeightedCritic, BranchedCritic, SharedCritic
from morl_blocks.ppo import Actor, CategoricalActor, ClippedSurrogate, UnitBoxGaussianActor
from morl_recipes.learning.lift import Layout, Question


class Layer(NamedTuple):
    """One linear layer per run: weights ``[R, o, i]``, the same transposed, and bias ``[R, 1, o]``."""

    weight: Tensor
    transposed: Tensor
    bias: Tensor


def linear(inputs: Tensor, layer: Layer) -> Tensor:
    """Apply one linear layer per run, ``[R, b, i]`` to ``[R, b, o]``."""
    if torch.compiler.is_compiling():  # the sum is fused with what follows
        return torch.bmm(inputs, layer.transposed) + layer.bias
    return torch.baddbmm(layer.bias, inputs, layer.transposed)


def tanh(inputs: Tensor) -> Tensor:
    r"""Return :math:`\tanh x`; compiled as :math:`2\sigma(2x) - 1`, correct to 2e-7 and cheaper than a fused tanh."""
    return 2 * (2 * inputs).sigmoid() - 1 if torch.compiler.is_compiling() else inputs.tanh()


def tanh_stack(inputs: Tensor, layers: list[Layer]) -> list[Tensor]:
    """Return the inputs and the output of every tanh layer."""
    features = [inputs]
    for layer in layers:
        features.append(tanh(linear(features[-1], layer)))
    return features


def tanh_errors(features: list[Tensor], layers: list[Layer], error: Tensor) -> list[Tensor]:
    """Backpropagate an error ``[R, b, o]`` at the last output to the errors before each tanh, first layer first."""
    errors: list[Tensor] = []
    for depth in range(len(layers) - 1, -1, -1):
        errors.insert(0, torch.ops.aten.tanh_backward.default(error, features[depth + 1]))  # error * (1 - output ** 2)
        if depth:
            error = torch.bmm(errors[0], layers[depth].weight)
    return errors


def gradients(names: tuple[str, ...], features: list[Tensor], errors: list[Tensor]) -> dict[str, Tensor]:
    """Return weight and bias gradients of the named layers, summed over the samples: ``[R, o, i]`` and ``[R, o]``."""
    own: dict[str, Tensor] = {}
    for name, inputs, error in zip(names, features, errors, strict=False):
        own[f"{name}.weight"], own[f"{name}.bias"] = torch.bmm(error.mT, inputs), error.sum(1)
    return own


class Stacked:
    """R networks of one layout: linear layers of a trunk, which stand between activations, and of heads."""

    def __init__(self, module: nn.Module, heads: tuple[str, ...]) -> None:
        self.layout = Layout.of(module)
        trunk = (f"trunk.{2 * i}" for i in range(len(module.trunk) // 2))  # type: ignore[arg-type]
        self.names = (*trunk, *heads)
        self._seen: tuple[Tensor, dict[str, Tensor], list[Layer]] | None = None

    def read(self, flat: Tensor) -> tuple[dict[str, Tensor], list[Layer]]:
        """Return the other parameters of ``[R, P]`` by name, ``[R, 1, ...]``, and the layers; all of them are views."""
        if self._seen is not None and self._seen[0] is flat and not torch.compiler.is_compiling():
            return self._seen[1:]  # the same in all minibatches of an iteration and in all steps of a rollout
        params, layers = self.layout.views(flat), []
        for name in self.names:
            weight, bias = params.pop(f"{name}.weight").flatten(1, -2), params.pop(f"{name}.bias")
            layers.append(Layer(weight, weight.mT, bias.flatten(1).unsqueeze(1)))  # heads of a layer run side by side
        # The outputs of the heads of a branched critic, [R, m, 1, h] and [R, m, 1], lose their dimension of size 1.
        others = {n: (p.unsqueeze(1) if p.dim() == 2 else p.flatten(1, 2).unsqueeze(1)) for n, p in params.items()}
        if not torch.compiler.is_compiling():
            self._seen = flat, others, layers
        return others, layers


class FastActor(Stacked):
    """R actors of tanh layers and a linear output."""

    def __init__(self, module: Actor) -> None:
        self.module, self.gaussian = module, isinstance(module, UnitBoxGaussianActor)
        super().__init__(module, ("mean" if self.gaussian else "logits",))

    def forward(self, layers: list[Layer], inputs: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the last layer's output ``[R, b, k]`` and the features of all layers."""
        *trunk, last = layers
        features = tanh_stack(inputs, trunk)
        return linear(features[-1], last), features

    def errors(self, layers: list[Layer], features: list[Tensor], error: Tensor) -> list[Tensor]:
        """Return the errors before each activation, for an error at the last layer's output ``[R, b, k]``."""
        *trunk, last = layers
        return [*tanh_errors(features, trunk, torch.bmm(error, last.weight)), error]

    def output(self, flat: Tensor, inputs: Tensor) -> Any:
        """Return the distributions' parameters."""
        params, layers = self.read(flat)
        raw, _ = self.forward(layers, inputs)
        if not self.gaussian:
            return raw
        return raw.sigmoid(), params["log_std"].expand_as(raw)

    def ask(self, flat: Tensor, question: Question, *args: Any) -> Tensor:
        """Call a method of each run's actor; the distributions of this package need no parameters for that."""
        answer: Tensor = getattr(self.module, question)(*args)
        return answer


class FastCritic(Stacked, ABC):
    """R critics: values, and the gradient for given derivatives of the loss with respect to the values."""

    heads: tuple[str, ...]
    """Names of the layers after the trunk."""

    def __init__(self, module: nn.Module, *, weighted: bool) -> None:
        super().__init__(module, self.heads)
        self.weighted = weighted

    def values(self, flat: Tensor, inputs: Tensor) -> Tensor:
        """Return values ``[R, b, m]`` of inputs ``[R, b, n + m]``."""
        return self.pullback(flat, inputs)[0]

    @abstractmethod
    def pullback(self, flat: Tensor, inputs: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """Return the values and the map from their derivative ``[R, b, m]`` to the gradient ``[R, P]``."""


class SharedStack(FastCritic):
    """R shared critics: a plain sequence of layers."""

    heads = ("head.0", "head.2")

    def pullback(self, flat: Tensor, inputs: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """Return values and the map to the gradient."""
        *hidden, last = self.read(flat)[1]
        features = tanh_stack(inputs, hidden)

        def pull(error: Tensor) -> Tensor:
            errors = [*tanh_errors(features, hidden, torch.bmm(error, last.weight)), error]
            return self.layout.join(gradients(self.names, features, errors))

        return linear(features[-1], last), pull


class BranchedStack(FastCritic):
    """R branched critics: the m heads run side by side as one wide layer, then one dot product each."""

    heads = ("heads.0",)

    def pullback(self, flat: Tensor, inputs: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """Return values and the map to the gradient."""
        params, layers = self.read(flat)
        features = tanh_stack(inputs, layers)
        weight, bias = params["heads.2.weight"], params["heads.2.bias"]  # [R, 1, m, h], [R, 1, m]
        top = features[-1].view(*inputs.shape[:2], *weight.shape[2:])  # [R, b, m, h]
        values = (top * weight).sum(-1) + bias

        def pull(error: Tensor) -> Tensor:
            each = error.unsqueeze(-1)
            named = gradients(self.names, features, tanh_errors(features, layers, (each * weight).flatten(2)))
            named["heads.2.weight"], named["heads.2.bias"] = (each * top).sum(1), error.sum(1)
            return self.layout.join(named)

        return values, pull


def fast_critic(module: nn.Module) -> FastCritic:
    """Return R copies of a critic that :func:`~morl_recipes.learning.fast.unknown_block` accepts."""
    inner = module.critic if isinstance(module, AttentionWeightedCritic) else module
    kind = BranchedStack if isinstance(inner, BranchedCritic) else SharedStack
    return kind(inner, weighted=inner is not module)


def unknown_block(actor: nn.Module, critic: nn.Module, loss: nn.Module) -> str | None:
    """Return the name of a block that the fast update does not support; ``None`` if it supports all."""
    inner = critic.critic if type(critic) is AttentionWeightedCritic else critic
    if type(actor) not in (UnitBoxGaussianActor, CategoricalActor):
        return type(actor).__name__
    if type(inner) not in (BranchedCritic, SharedCritic):
        return type(inner).__name__
    if type(loss) is not ClippedSurrogate:
        return type(loss).__name__
    for network in (actor, inner):
        leaves = [layer for layer in network.modules() if not list(layer.children())]
        strange = [leaf for leaf in leaves if not list(leaf.parameters()) and type(leaf) is not nn.Tanh]
        if strange:
            return f"{type(strange[0]).__name__} in {type(network).__name__}"
        if not all(parameter.requires_grad for parameter in network.parameters()):
            return f"frozen parameters in {type(network).__name__}"
    return None
