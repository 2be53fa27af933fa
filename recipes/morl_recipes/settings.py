"""How to train, apart from what: every setting of a training, declared once.

Python's ``train``, sweep files and the command line embed this class; none of them repeats a name or a default.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from morl_recipes import _checks

PAPER_STEPS = 488 * 2048
"""Environment steps per run of the long trainings; the paper does not print its own number."""


@dataclass(frozen=True)
class Settings:
    """How to train.

    Args:
        total_steps: Environment steps per run, rounded up to whole iterations.
        num_envs: Environments per run.
        eval_every: Iterations between validations; the last iteration is always validated.
        eval_episodes: Episodes per validation.
        eval_deterministic: Validate the most likely actions instead of samples.
        test_episodes: Fresh episodes on which the best and the last policy are played at the end; 0 for none.
        checkpoint_every: Iterations between checkpoints.
        compile: Fuse the update with ``torch.compile``: ``"auto"`` does so where a compiler is there and it pays.
        update: ``"auto"`` takes the fast update for the blocks that it knows, ``"generic"`` and ``"fast"`` insist.
        device: Where the tensors live.
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
        """Check every setting, and turn whole numbers into plain ones."""
        for name in ("total_steps", "num_envs", "eval_every", "eval_episodes", "checkpoint_every"):
            object.__setattr__(self, name, _checks.at_least(name, getattr(self, name), 1))
        object.__setattr__(self, "test_episodes", _checks.at_least("test_episodes", self.test_episodes, 0))
        if self.compile not in ("auto", True, False):
            _checks.fail("compile", "be 'auto', True or False", repr(self.compile))
        if self.update not in ("auto", "generic", "fast"):
            _checks.fail("update", "be 'auto', 'generic' or 'fast'", repr(self.update))

    def decisive(self) -> dict[str, Any]:
        """Return the settings on which a run's numbers depend, for its identity."""
        return {name: value for name, value in asdict(self).items() if name not in WITHOUT_EFFECT}


WITHOUT_EFFECT = ("checkpoint_every", "device")
"""Settings that change no number of a run (beyond rounding)."""

NAMES = tuple(field.name for field in fields(Settings))
