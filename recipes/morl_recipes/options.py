"""How to train, apart from what: folders, devices, validation, watching."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from morl_recipes import _checks
from morl_recipes.learning.batch import CHUNK
from morl_recipes.watching import Logger, check_loggers


@dataclass(frozen=True)
class Options:
    """How to train, apart from what: see :func:`~morl_recipes.train`."""

    out: Path | None = None
    resume: bool = False
    compile: bool = False
    device: str = "cpu"
    num_envs: int = 8
    progress: bool = True
    eval_every: int = 10
    eval_episodes: int = 10
    eval_deterministic: bool = True
    checkpoint_every: int = 10
    loggers: Sequence[Logger] = ()
    chunk: int = CHUNK


def checked(options: Options) -> Options:
    """Check the options before anything is opened; return them with plain numbers."""
    if options.resume and options.out is None:
        _checks.fail("out", "be given to resume", "None")
    try:
        torch.empty(0, device=options.device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"`device` must be one that PyTorch finds here, got {options.device!r} ({reason}).") from error
    names = ("num_envs", "eval_every", "eval_episodes", "checkpoint_every", "chunk")
    numbers = {name: _checks.at_least(name, getattr(options, name), 1) for name in names}
    return replace(options, **numbers, loggers=check_loggers(options.loggers))  # type: ignore[arg-type]
