"""Building blocks for multi-objective policy optimisation: pure maths under thin ``nn.Module`` objects.

Five families of blocks, each usable on its own: :mod:`morl_blocks.scalarizers`, :mod:`morl_blocks.schedulers`,
:mod:`morl_blocks.combiners`, :mod:`morl_blocks.critics` and :mod:`morl_blocks.preferences`. :mod:`morl_blocks.ppo` and
:mod:`morl_blocks.metrics` use them. This package has no training loop, does not access files and does not depend on any
environment.

Importing the package is cheap. ``morl_blocks.combine_gradients``, ``morl_blocks.objective_jacobian`` and the families
are loaded on first use. Only :mod:`morl_blocks.ppo` and :mod:`morl_blocks.transforms` need TorchRL.
"""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from morl_blocks import combiners as combiners
    from morl_blocks import critics as critics
    from morl_blocks import gradients as gradients
    from morl_blocks import llm as llm
    from morl_blocks import metrics as metrics
    from morl_blocks import normalizers as normalizers
    from morl_blocks import ppo as ppo
    from morl_blocks import preferences as preferences
    from morl_blocks import problems as problems
    from morl_blocks import scalarizers as scalarizers
    from morl_blocks import schedulers as schedulers
    from morl_blocks import transforms as transforms
    from morl_blocks.gradients import Combined as Combined
    from morl_blocks.gradients import combine_gradients as combine_gradients
    from morl_blocks.gradients import objective_jacobian as objective_jacobian

_GRADIENTS = ("Combined", "combine_gradients", "objective_jacobian")
_MODULES = (
    "combiners",
    "critics",
    "gradients",
    "llm",
    "metrics",
    "normalizers",
    "ppo",
    "preferences",
    "problems",
    "scalarizers",
    "schedulers",
    "transforms",
)

__all__ = [*_GRADIENTS, *_MODULES, "__version__"]

try:
    __version__ = version("morl-blocks")
except PackageNotFoundError:  # the sources were copied, not installed
    __version__ = "0+unknown"


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"morl_blocks.{name}")
    if name in _GRADIENTS:
        return getattr(import_module("morl_blocks.gradients"), name)
    raise AttributeError(f"module 'morl_blocks' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
