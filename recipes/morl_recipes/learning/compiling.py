"""Conditions for compiling the update with ``torch.compile``, and how it is compiled."""

import shutil
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch

from morl_recipes.common.checks import compilable
from morl_recipes.common.text import LOG

Choice = Literal["auto"] | bool
WORTH = 100_000
"""Number of updates, counted once per run, from which compiling is assumed to pay off: a choice, not a measurement."""
INSTALLED = tuple(f"G['__{name}_" for name in ("builtins", "import_torch", "import_morl_blocks", "import_morl_recipes"))
"""Prefixes by which Dynamo names objects that Python and the modules of these packages define."""


def pays(choice: Choice, updates: int, runs: int, *, batched: bool) -> bool:
    """Return whether to compile so many updates per run; the same for the same training on the same machine."""
    if not batched:
        return False
    if choice != "auto":
        return choice
    return updates * runs >= WORTH and missing_toolchain() is None


def missing_toolchain() -> str | None:
    """Return the reason why PyTorch cannot compile here, or ``None``."""
    try:
        compilable(torch.__path__[0])
    except ValueError as error:
        return str(error)
    if not any(shutil.which(name) for name in ("c++", "g++", "clang++")):
        return "no C++ compiler was found (on Debian: apt-get install g++)"
    return None


def lasting_guards(entries: Sequence[Any]) -> list[bool]:
    """Select the Dynamo guards that are checked before every step: all except those of package definitions.

    Those are nearly half of all guards, and checking them slows down the step of a single run. Definitions in a user's
    own file or notebook may change between two trainings, and so may blocks, shapes and types: their guards are kept.
    """
    return [not (entry.is_global and entry.name.startswith(INSTALLED)) for entry in entries]


class Fused:
    """A step that is compiled at its first call; with ``"auto"`` it falls back to eager mode if compiling fails."""

    def __init__(self, step: Callable[..., None], device: torch.device, choice: Choice) -> None:
        compilable(torch.__path__[0])
        # All batches of a process compile the same lines of code, each for its own shapes.
        torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, 256)
        options: dict[str, str | int | bool | Callable[..., Any]] = {
            "cpp_wrapper": device.type == "cpu",
            "guard_filter_fn": lasting_guards,
        }
        self.eager, self.choice, self.proven = step, choice, False
        self.call: Callable[..., None] = torch.compile(step, fullgraph=True, dynamic=False, options=options)

    @property
    def fused(self) -> bool:
        """Whether it is compiled or will be."""
        return self.call is not self.eager

    def __call__(self, *args: Any) -> None:
        """Take the step."""
        if self.proven:
            self.call(*args)
            return
        try:
            self.call(*args)
        except Exception as error:
            if self.choice != "auto":
                raise
            reason = str(error).strip().partition("\n")[0]
            LOG.warning("The update is not compiled (%s: %s); it goes on uncompiled.", type(error).__name__, reason)
            self.call = self.eager
            self.call(*args)
        self.proven = True
