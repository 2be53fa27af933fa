"""Small networks for R runs at once: forward and hand-written backward as batched matrix products.

The parameters are those of the ordinary modules of :mod:`morl_blocks`, stacked; the results are those of autograd
(tests compare them). Writing the few lines of backpropagation out makes an eager update several times faster, and
gives the per-sample errors from which :mod:`~morl_recipes.learning.update` gets all objectives' inner products.
"""

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor, nn

from morl_blocks.critics import AttentionWeightedCritic, BranchedCritic, SharedCritic
from morl_blocks.ppo import CategoricalActor, UnitBoxGaussianActor
from morl_recipes import _checks
from morl_recipes.learning.layout import Layout

Layer = tuple[Tensor, Tensor]


def linear(inputs: Tensor, layer: Layer) -> Tensor:
    """Apply one linear layer per run: ``[R, b, i]``, ``([R, o, i], [R, o])`` to ``[R, b, o]``."""
    weight, bias = layer
    if torch.compiler.is_compiling():  # the sum is fused with what follows
        return torch.bmm(inputs, weight.mT) + bias.unsqueeze(1)
    return torch.baddbmm(bias.unsqueeze(1), inputs, weight.mT)


def tanh(inputs: Tensor) -> Tensor:
    r"""Return :math:`\tanh x`; compiled as :math:`2\sigma(2x) - 1`, correct to 2e-7 and cheaper than a fused tanh.

    Example:
        >>> tanh(torch.tensor([-100.0, 0.0, 0.5]))
        tensor([-1.0000,  0.0000,  0.4621])
    """
    return 2 * (2 * inputs).sigmoid() - 1 if torch.compiler.is_compiling() else inputs.tanh()


def tanh_stack(inputs: Tensor, layers: list[Layer]) -> list[Tensor]:
    """Return the inputs and the output of every tanh layer."""
    features = [inputs]
    for layer in layers:
        features.append(tanh(linear(features[-1], layer)))
    return features


def tanh_errors(features: list[Tensor], layers: list[Layer], error: Tensor) -> list[Tensor]:
    """Backpropagate an error at the last output to the errors before each tanh, per sample.

    Args:
        features: What :func:`tanh_stack` returned.
        layers: The same layers.
        error: Derivative with respect to the last output, ``[R, b, o]``.

    Returns:
        Derivatives with respect to each layer's pre-activation, in the order of the layers.
    """
    errors: list[Tensor] = []
    for depth in range(len(layers) - 1, -1, -1):
        errors.insert(0, torch.ops.aten.tanh_backward(error, features[depth + 1]))  # error * (1 - output ** 2)
        if depth:
            error = torch.bmm(errors[0], layers[depth][0])
    return errors


def gradients(features: list[Tensor], errors: list[Tensor]) -> list[Tensor]:
    """Return weight and bias gradients of each layer, summed over the samples: ``[R, o, i]``, ``[R, o]``, ..."""
    pairs = [(torch.bmm(e.mT, f), e.sum(1)) for f, e in zip(features, errors, strict=False)]
    return [tensor for pair in pairs for tensor in pair]


def _layers(params: dict[str, Tensor], names: tuple[str, ...]) -> list[Layer]:
    return [(params[f"{name}.weight"], params[f"{name}.bias"]) for name in names]


def _named(names: tuple[str, ...], tensors: list[Tensor]) -> dict[str, Tensor]:
    keys = [f"{name}.{kind}" for name in names for kind in ("weight", "bias")]
    return dict(zip(keys, tensors, strict=True))


class Actor:
    """R actors with two tanh layers and a linear output; see :mod:`~morl_recipes.learning.heads` for what follows.

    Args:
        module: One actor, as a template for the layout.
    """

    def __init__(self, module: UnitBoxGaussianActor | CategoricalActor) -> None:
        self.layout = Layout.of(module)
        self.output = "mean" if isinstance(module, UnitBoxGaussianActor) else "logits"
        self.names = ("trunk.0", "trunk.2", self.output)

    def forward(self, params: dict[str, Tensor], inputs: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the raw output ``[R, b, k]`` and the features of all layers."""
        *trunk, last = _layers(params, self.names)
        features = tanh_stack(inputs, trunk)
        return linear(features[-1], last), features

    def errors(self, params: dict[str, Tensor], features: list[Tensor], error: Tensor) -> list[Tensor]:
        """Return the errors before each activation, for an error at the raw output ``[R, b, k]``."""
        *trunk, last = _layers(params, self.names)
        return [*tanh_errors(features, trunk, torch.bmm(error, last[0])), error]

    def gradient(self, features: list[Tensor], errors: list[Tensor], extra: dict[str, Tensor]) -> Tensor:
        """Return the flat gradient ``[R, P]``; ``extra`` holds the parameters outside the layers."""
        return self.layout.join({**_named(self.names, gradients(features, errors)), **extra})


class StackedCritic(Protocol):
    """R critics: values, and the gradient for given derivatives of the loss with respect to the values."""

    layout: Layout

    def values(self, flat: Tensor, inputs: Tensor) -> Tensor:
        """Return values ``[R, b, m]`` of inputs ``[R, b, n + m]``."""
        ...

    def pullback(self, flat: Tensor, inputs: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """Return the values and the map from their derivative ``[R, b, m]`` to the gradient ``[R, P]``."""
        ...


class SharedStack:
    """R shared critics: a plain chain of layers."""

    def __init__(self, module: SharedCritic) -> None:
        self.layout = Layout.of(module)
        trunk = [f"trunk.{2 * i}" for i in range(len(module.trunk) // 2)]
        self.names = (*trunk, "head.0", "head.2")

    def values(self, flat: Tensor, inputs: Tensor) -> Tensor:
        """Return values, ``[R, b, m]``."""
        return self.pullback(flat, inputs)[0]

    def pullback(self, flat: Tensor, inputs: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """Return values and the map to the gradient."""
        *hidden, last = _layers(self.layout.views(flat), self.names)
        features = tanh_stack(inputs, hidden)

        def pull(error: Tensor) -> Tensor:
            errors = [*tanh_errors(features, hidden, torch.bmm(error, last[0])), error]
            return self.layout.join(_named(self.names, gradients(features, errors)))

        return linear(features[-1], last), pull


class BranchedStack:
    """R branched critics: the m heads run side by side as one wide layer, then one dot product each."""

    def __init__(self, module: BranchedCritic) -> None:
        self.layout = Layout.of(module)
        self.names = (*(f"trunk.{2 * i}" for i in range(len(module.trunk) // 2)), "heads.0")

    def values(self, flat: Tensor, inputs: Tensor) -> Tensor:
        """Return values, ``[R, b, m]``."""
        return self.pullback(flat, inputs)[0]

    def pullback(self, flat: Tensor, inputs: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """Return values and the map to the gradient."""
        params = self.layout.views(flat)
        *trunk, (weight, bias) = _layers(params, self.names)
        layers = [*trunk, (weight.flatten(1, 2), bias.flatten(1))]
        features = tanh_stack(inputs, layers)
        out_weight, out_bias = params["heads.2.weight"], params["heads.2.bias"]  # [R, m, 1, h], [R, m, 1]
        m, hidden = out_weight.shape[1], out_weight.shape[-1]
        top = features[-1].unflatten(-1, (m, hidden))  # [R, b, m, h]
        values = (top * out_weight.squeeze(-2).unsqueeze(1)).sum(-1) + out_bias.squeeze(-1).unsqueeze(1)

        def pull(error: Tensor) -> Tensor:
            spread = error.unsqueeze(-1) * out_weight.squeeze(-2).unsqueeze(1)
            pieces = gradients(features, tanh_errors(features, layers, spread.flatten(-2)))
            named = _named(self.names, pieces)
            named["heads.2.weight"] = (error.unsqueeze(-1) * top).sum(1)
            named["heads.2.bias"] = error.sum(1)
            return self.layout.join(named)

        return values, pull


class ModuleStack:
    """R copies of any critic module, through ``torch.func``: for critics that are not of this package.

    Args:
        module: A module ``(observation, preference) -> [*B, m]``.
        num_objectives: Number of objectives, m; the last m columns of the inputs are the preference.
    """

    def __init__(self, module: nn.Module, num_objectives: int) -> None:
        self.layout = Layout.of(module)
        self.module, self.m = module, num_objectives

    def values(self, flat: Tensor, inputs: Tensor) -> Tensor:
        """Return values, ``[R, b, m]``."""

        def single(row: Tensor, x: Tensor) -> Tensor:
            params = {name: view[0] for name, view in self.layout.views(row.unsqueeze(0)).items()}
            values: Tensor = torch.func.functional_call(self.module, params, (x[:, : -self.m], x[:, -self.m :]))
            return values

        return torch.func.vmap(single)(flat, inputs)

    def pullback(self, flat: Tensor, inputs: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """Return values and the map to the gradient."""
        values, pull, *_ = torch.func.vjp(lambda p: self.values(p, inputs), flat)
        return values, lambda error: pull(error)[0]


def stacked_critic(module: nn.Module, num_objectives: int) -> StackedCritic:
    """Choose the fastest way to run R copies of a critic."""
    inner = module.critic if isinstance(module, AttentionWeightedCritic) else module
    loss = getattr(type(inner), "loss", None)
    if loss not in (None, SharedCritic.loss, BranchedCritic.loss):
        _checks.fail("critic", "have no `loss` of its own: the update takes its squared errors", type(inner).__name__)
    tanh = all(not _is_activation(layer) or isinstance(layer, nn.Tanh) for layer in inner.modules())
    if type(inner) is BranchedCritic and tanh:
        return BranchedStack(inner)
    if type(inner) is SharedCritic and tanh:
        return SharedStack(inner)
    return ModuleStack(inner, num_objectives)


def _is_activation(layer: nn.Module) -> bool:
    return not list(layer.children()) and not list(layer.parameters(recurse=False))
