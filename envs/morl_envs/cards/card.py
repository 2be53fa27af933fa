"""The typed card: what a recipe, a table and a reader need to know about an environment, without creating it."""

from dataclasses import dataclass
from importlib import util
from typing import Literal

Vector = tuple[float, ...]

_MODULES = {"box2d": "Box2D"}
"""What an extra is called when it is imported, where that differs from its own name."""


@dataclass(frozen=True)
class EnvCard:
    """One environment. Everything else follows from its card: Gymnasium's id, batches, pictures and heuristics.

    Code is named by import paths (``"module:name"``), so a card imports nothing.

    Attributes:
        name: Name for :func:`morl_envs.make_batch` and the command line; the Gymnasium id where ``world`` is ``None``.
        objectives: Names of the objectives, in the order of the reward vector; all are maximised.
        observation_dim: Numbers per observation.
        action_dim: Numbers per action; 1 for discrete actions.
        num_actions: Number of discrete actions; ``None`` when actions are continuous.
        horizon: Steps after which an episode is truncated.
        preferences: The preferences of the paper (of this project, where the paper has none).
        hv_low: Undiscounted return that counts as 0 in the hypervolume of a run.
        hv_high: Undiscounted return that counts as 1.
        hv_origin: Where these bounds come from.
        normalize_observations: Whether a policy should see observations scaled by running statistics.
        values: For observations that are codes without an order: how many values each number takes, from 0. A policy
            sees them as one-hot vectors, and ``observation_dim`` counts these.
        world: Class of a batched torch world; ``None`` for an environment that Gymnasium makes.
        drawing: Function ``(env, row, trail) -> Canvas`` that draws the world; those of Gymnasium draw themselves.
        heuristics: Pairs of a name and a policy, from observations ``[N, n]`` to actions ``[N, a]``.
        exact_front: Function ``(card, gamma) -> points [k, m]``; ``None`` where nobody knows the exact front.
        extra: Optional dependency group of ``morl-blocks`` that the environment needs.
        note: What a user should know before believing its numbers.
    """

    name: str
    objectives: tuple[str, ...]
    observation_dim: int
    action_dim: int
    num_actions: int | None
    horizon: int
    preferences: tuple[Vector, ...]
    hv_low: Vector
    hv_high: Vector
    hv_origin: str
    normalize_observations: bool = False
    values: tuple[int, ...] | None = None
    world: str | None = None
    drawing: str | None = None
    heuristics: tuple[tuple[str, str], ...] = ()
    exact_front: str | None = None
    extra: str | None = None
    note: str = ""

    @property
    def kind(self) -> Literal["torch", "gymnasium"]:
        """``"torch"`` for a batched world of tensors, ``"gymnasium"`` for a registered environment."""
        return "gymnasium" if self.world is None else "torch"

    @property
    def class_name(self) -> str | None:
        """Name of the world's class; ``None`` for Gymnasium's environments."""
        return None if self.world is None else self.world.rpartition(":")[2]

    @property
    def gymnasium_id(self) -> str:
        """Name for ``gymnasium.make``."""
        return self.name if self.world is None else f"morl_envs/{self.class_name}-v0"

    def missing(self) -> str | None:
        """Return the extra that the environment needs and that is not installed, if there is one."""
        installed = self.extra is None or util.find_spec(_MODULES.get(self.extra, self.extra)) is not None
        return None if installed else self.extra

    def check(self) -> None:
        """Require the optional packages of the environment.

        Example:
            >>> from morl_envs import CARDS
            >>> CARDS["stealth"].check()
        """
        if (extra := self.missing()) is not None:
            raise ImportError(f"{self.name} needs the {extra} extra: pip install 'morl-blocks[{extra}]'.")
