"""Any actor and any critic for R runs at once: the public module, vectorised over runs by ``torch.func``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal, Protocol

import torch
from torch import Tensor, nn

from morl_blocks.ppo import Actor
from morl_recipes.common import checks


@dataclass(frozen=True)
class Layout:
    """Names and shapes of a network's parameters, in the order of a flat vector."""

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, module: nn.Module) -> "Layout":
        """Read the layout of a module."""
        named = list(module.named_parameters())
        return cls(tuple(name for name, _ in named), tuple(tuple(param.shape) for _, param in named))

    @property
    def size(self) -> int:
        """Number of parameters per run, P."""
        return sum(prod(shape) for shape in self.shapes)

    def views(self, flat: Tensor) -> dict[str, Tensor]:
        """Return each parameter as a view ``[R, *shape]`` of the flat ``[R, P]``."""
        pieces = flat.split([prod(shape) for shape in self.shapes], dim=-1)
        return {n: p.view(-1, *s) for n, p, s in zip(self.names, pieces, self.shapes, strict=True)}

    def join(self, gradients: dict[str, Tensor]) -> Tensor:
        """Return one flat ``[R, P]`` from pieces ``[R, *shape]``."""
        return torch.cat([gradients[name].flatten(1) for name in self.names], dim=-1)


def initial(make: Callable[[], nn.Module], seeds: Sequence[int]) -> tuple[nn.Module, Tensor]:
    """Make one network per seed; return the last one as a template, and all parameters, ``[R, P]``.

    PyTorch's initialisers use the global generator, so each network is made with a copy of it, seeded by the run.
    """
    rows = []
    with torch.random.fork_rng(devices=[]):
        for seed in seeds:
            torch.manual_seed(seed)
            module = make()
            rows.append(torch.cat([param.detach().flatten() for param in module.parameters()]))
    return module, torch.stack(rows)


Question = Literal["sample", "mode", "log_prob", "entropy"]
"""Methods of an actor that evaluate its distribution."""


class StackedActor(Protocol):
    """R actors of one architecture; their parameters are the rows of a flat ``[R, P]``."""

    layout: Layout
    module: Actor

    def output(self, flat: Tensor, inputs: Tensor) -> Any:
        """Return the distributions' parameters ``[R, b, ...]`` for inputs ``[R, b, n + m]``."""
        ...

    def ask(self, flat: Tensor, question: Question, *args: Any) -> Tensor:
        """Call a method of each run's actor: ``ask(flat, "log_prob", output, action)``; all have a leading R."""
        ...


class StackedCritic(Protocol):
    """R critics of one architecture."""

    layout: Layout

    def values(self, flat: Tensor, inputs: Tensor) -> Tensor:
        """Return values ``[R, b, m]`` of inputs ``[R, b, n + m]``."""
        ...


class Lifted:
    """Call functions of a module for R runs, each with its own row of parameters; buffers are shared.

    The last m columns of the inputs are the preference.
    """

    def __init__(self, module: nn.Module, num_objectives: int) -> None:
        self.module, self.layout, self._bound, self.m = module, Layout.of(module), _Bound(module), num_objectives
        self._frozen = {name for name, parameter in module.named_parameters() if not parameter.requires_grad}

    def one(self, function: Callable[..., Any], row: Tensor, *args: Any) -> Any:
        """Return ``function(module, *args)`` with the parameters of one run, ``[P]``."""
        views = {name: view[0] for name, view in self.layout.views(row.unsqueeze(0)).items()}
        params = {f"module.{n}": view.detach() if n in self._frozen else view for n, view in views.items()}
        return torch.func.functional_call(self._bound, params, (function, *args))

    def output(self, flat: Tensor, inputs: Tensor) -> Any:
        """Return the outputs of every run's module for inputs ``[R, b, n + m]``: observation and preference."""
        return self.all(lambda module, x: module(x[..., : -self.m], x[..., -self.m :]), flat, inputs)

    def all(self, function: Callable[..., Any], flat: Tensor, *args: Any) -> Any:
        """Return ``function(module, *args)`` for every run; arguments and result have a leading R."""
        return torch.func.vmap(lambda row, *own: self.one(function, row, *own))(flat, *args)


class _Bound(nn.Module):
    """A module whose ``forward`` applies a function to another module, with replaceable parameters."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, function: Callable[..., Any], *args: Any) -> Any:
        return function(self.module, *args)


class LiftedActor(Lifted):
    """R copies of any :class:`~morl_blocks.ppo.Actor`."""

    module: Actor

    def ask(self, flat: Tensor, question: Question, *args: Any) -> Tensor:
        """Call a method of each run's actor."""
        answer: Tensor = self.all(lambda actor, *own: getattr(actor, question)(*own), flat, *args)
        return answer


class LiftedCritic(Lifted):
    """R copies of any critic module ``(observation, preference) -> [*B, m]``."""

    def values(self, flat: Tensor, inputs: Tensor) -> Tensor:
        """Return values."""
        result: Tensor = self.output(flat, inputs)
        inner = getattr(self.module, "critic", self.module)  # for a wrapper, name the wrapped critic
        checks.returned(inner, "forward", result, (*inputs.shape[:-1], self.m))
        return result
