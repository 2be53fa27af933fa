"""All settings of a training that are not part of the recipe, declared once.

Python's ``train``, sweep files and the command line use this class, so names and defaults are not repeated.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, TypeVar

from morl_recipes.common import checks
from morl_recipes.common.naming import unknown

PAPER_STEPS = 488 * 2048
"""Environment steps per run of the long trainings; the paper does not state its own number."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Settings:
    """Settings of a training.

    Args:
        total_steps: Environment steps per run, rounded up to whole iterations.
        num_envs: Environments per run.
        eval_every: Iterations between validations; the last iteration is always validated.
        eval_episodes: Episodes per validation.
        eval_deterministic: Validate the most likely actions instead of samples.
        test_episodes: Test episodes on which the best and the last policy are played at the end; 0 for none.
        checkpoint_every: Iterations between checkpoints.
        compile: Fuse the update with torch.compile; "auto" does so if a compiler is installed and it pays off.
        update: "auto" uses the fast update if it supports all blocks, "generic" and "fast" force one form.
        device: Device of the tensors.

    Example:
        >>> Settings(total_steps=4096).change(num_envs=4).num_envs
        4
        >>> Settings().change(num_env=4)
        Traceback (most recent call last):
        ...
        ValueError: unknown setting 'num_env'. Nearest: num_envs.
    """

    total_steps: int = PAPER_STEPS
    num_envs: int = 8
    eval_every: int = 10
    eval_episodes: int = 10
    eval_deterministic: bool = True
    test_episodes: int = 100
    checkpoint_every: int = 10
    compile: Literal["auto"] | bool = "auto"
    update: Literal["auto", "generic", "fast"] = "auto"
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Check every setting, and convert integers to plain ones."""
        for name in ("total_steps", "num_envs", "eval_every", "eval_episodes", "test_episodes", "checkpoint_every"):
            least = 0 if name == "test_episodes" else 1
            object.__setattr__(self, name, checks.at_least(name, getattr(self, name), least))
        if not isinstance(self.eval_deterministic, bool):
            checks.fail("eval_deterministic", "be true or false", repr(self.eval_deterministic))
        if self.compile != "auto" and not isinstance(self.compile, bool):
            checks.fail("compile", "be 'auto', true or false", repr(self.compile))
        checks.one_of("update", self.update, ("auto", "generic", "fast"))
        if not isinstance(self.device, str):
            checks.fail("device", "be a name such as 'cpu' or 'cuda:0'", repr(self.device))

    def change(self, **changes: Any) -> Settings:
        """Return the settings with some of them changed; unknown names raise an error with the nearest known ones."""
        require_known(changes)
        return replace(self, **changes)

    def decisive(self) -> dict[str, Any]:
        """Return the settings on which a run's numbers depend, for its identity."""
        return {name: value for name, value in asdict(self).items() if name not in WITHOUT_EFFECT}


WITHOUT_EFFECT = ("checkpoint_every", "device")
"""Settings that do not change the numbers of a run (beyond rounding)."""
NAMES = tuple(field.name for field in fields(Settings))


def require_known(names: Iterable[str], others: Iterable[str] = (), kind: str = "setting") -> None:
    """Raise for names that are neither settings nor among ``others``."""
    known = (*NAMES, *others)
    for name in names:
        if name not in known:
            raise unknown(kind, name, known)


def help_texts(kind: type = Settings) -> Mapping[str, str]:
    """Return the description of each field of a data class, from its docstring."""
    found = dict(re.findall(r"^ {8}(\w+): (.+)$", kind.__doc__ or "", flags=re.MULTILINE))
    return {field.name: found[field.name] for field in fields(kind) if field.name in found}


def takes(*kinds: type) -> Callable[[F], F]:
    """Add the fields of data classes as documented arguments to a function that passes ``**changes`` on.

    A field that the function declares itself, such as ``total_steps``, is not changed. The line ``**changes`` of the
    docstring is replaced by the fields.
    """

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        taken = [(field, help_texts(kind)[field.name]) for kind in kinds for field in fields(kind)]
        added = {field: text for field, text in taken if field.name not in signature.parameters}
        keyword = inspect.Parameter.KEYWORD_ONLY
        new = [inspect.Parameter(f.name, keyword, default=f.default, annotation=f.type) for f in added]
        function.__signature__ = signature.replace(parameters=[*own, *new])  # type: ignore[attr-defined]
        lines = "\n".join(f"        {field.name}: {text}" for field, text in added.items())
        function.__doc__ = re.sub(r"^ +\*\*changes: .*$", lambda _: lines, function.__doc__ or "", flags=re.MULTILINE)
        return function

    return decorate
