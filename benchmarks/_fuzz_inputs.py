"""Random arguments for the fuzzer: first a good call, then something done to it that a user might do."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

BATCHES = ((), (1,), (5,), (2, 3))
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.int8, torch.bool)
ODD: tuple[Any, ...] = (
    None,
    "text",
    [],
    {},
    [[1.0], [1.0, 2.0]],
    object(),
    True,
    np.ma.masked_array([1.0, 2.0], [True, False]),
)
SCALES = (1e-45, 1e-38, 1e-30, 1e-20, 1e-6, 1e6, 1e20, 1e30, 1e38)
NUMBERS = (0, -1, 1, 2, 0.5, 1e-30, 1e30, 1e300, -1e300, float("nan"), float("inf"), -float("inf"))


class Draw:
    """One source of randomness with the words that the cases use.

    Args:
        seed: Seed; the same seed gives the same call again.
    """

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def one(self, options: Any) -> Any:
        """Pick one of a few."""
        return options[int(self.random.integers(len(options)))]

    def chance(self, probability: float) -> bool:
        """Say yes so often."""
        return bool(self.random.random() < probability)

    def batch(self) -> tuple[int, ...]:
        """Pick a batch shape."""
        shape: tuple[int, ...] = self.one(BATCHES)
        return shape

    def objectives(self) -> int:
        """Pick a number of objectives."""
        return int(self.random.integers(2, 6))

    def normal(self, *shape: int) -> Tensor:
        """Draw standard normal numbers, a few of them exactly zero or equal."""
        values = torch.from_numpy(np.asarray(self.random.normal(size=shape), dtype=np.float32))
        return values.round() if self.chance(0.2) else values

    def unit(self, *shape: int) -> Tensor:
        """Draw numbers in [0, 1)."""
        return torch.from_numpy(np.asarray(self.random.random(shape), dtype=np.float32))

    def simplex(self, *shape: int) -> Tensor:
        """Draw points of the simplex, corners among them."""
        values = torch.from_numpy(np.asarray(self.random.dirichlet([0.5] * shape[-1], shape[:-1]), dtype=np.float32))
        if self.chance(0.2):
            values = torch.nn.functional.one_hot(values.argmax(-1), shape[-1]).float()
        return values

    def flags(self, *shape: int) -> Tensor:
        """Draw booleans."""
        return torch.from_numpy(np.asarray(self.random.random(shape) < 0.2))

    def generator(self) -> torch.Generator:
        """Return a seeded generator."""
        return torch.Generator().manual_seed(int(self.random.integers(2**31)))


def spoil(draw: Draw, arguments: dict[str, Any], keep: tuple[str, ...]) -> dict[str, Any]:
    """Do nothing in two of five calls; else change one or two arguments, or all tensors alike."""
    arguments = dict(arguments)
    names = [name for name in arguments if name not in keep]
    if not names or draw.chance(0.4):
        return arguments
    if draw.chance(0.3):
        change = draw.one((_dtype, _scale, _container))
        seed = int(draw.random.integers(2**31))
        return {
            name: change(Draw(seed), value) if name in names and isinstance(value, Tensor) else value
            for name, value in arguments.items()
        }
    for _ in range(2 if draw.chance(0.2) else 1):
        name = draw.one(names)
        arguments[name] = _spoil_one(draw, arguments[name])
    return arguments


def _spoil_one(draw: Draw, value: Any) -> Any:
    """Change one argument."""
    if draw.chance(0.1):
        return draw.one(ODD)
    if isinstance(value, Tensor) and value.layout is torch.strided:
        changes: tuple[Callable[[Draw, Tensor], Any], ...] = (_dtype, _scale, _container, _poison, _poison, _reshape)
        return draw.one(changes)(draw, value)
    if isinstance(value, str):
        return draw.one(("max", "min", "", "softmax", 3, None))
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        number = draw.one(NUMBERS)
        tensor = torch.tensor(float(number), dtype=torch.float64)
        return draw.one((number, tensor.float(), tensor, np.float64(number), tensor.expand(3)))
    return value


def _dtype(draw: Draw, value: Tensor) -> Any:
    dtype = draw.one(DTYPES)
    if dtype in (torch.int64, torch.int8) and draw.chance(0.5):
        value = value * 3
    return value.to(dtype) if draw.chance(0.95) else value.to(torch.complex64)


def _scale(draw: Draw, value: Tensor) -> Any:
    scale = draw.one(SCALES)
    wide = (value.real if value.is_complex() else value).double() * scale
    return wide.to(value.dtype) if value.is_floating_point() and draw.chance(0.7) else wide


def _container(draw: Draw, value: Tensor) -> Any:
    value = value.float() if value.dtype == torch.bfloat16 else value
    array = value.numpy() if not value.is_complex() else value.real.numpy()
    frozen = array.copy()
    frozen.setflags(write=False)
    forms = (value.tolist, lambda: array, lambda: np.flip(array), lambda: array.astype(np.float64), lambda: frozen)
    odd = (
        lambda: array.astype(object),
        lambda: value.to_sparse() if value.dim() else value,
        lambda: array.astype(">f8"),
    )
    return draw.one((*forms, *forms, *odd))()


def _poison(draw: Draw, value: Tensor) -> Any:
    if not value.is_floating_point() or not value.numel():
        return value
    value = value.contiguous().clone()
    value.view(-1)[int(draw.random.integers(value.numel()))] = draw.one((torch.nan, torch.inf, -torch.inf))
    return value


def _reshape(draw: Draw, value: Tensor) -> Any:
    forms: tuple[Callable[[], Tensor], ...] = (
        lambda: value.unsqueeze(0),
        lambda: value.unsqueeze(-1),
        lambda: value.flatten(),
        lambda: value[..., :1] if value.dim() else value,
        lambda: value[:0] if value.dim() else value,
        lambda: value[..., :0] if value.dim() else value,
        lambda: value.sum(),
        lambda: torch.cat([value, value]) if value.dim() else value,
        lambda: torch.cat([value, value], -1) if value.dim() else value,
        lambda: value.mT if value.dim() > 1 else value,
    )
    return draw.one(forms)()
