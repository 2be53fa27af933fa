"""The typed card: the properties of an environment that can be known without creating it."""

from dataclasses import dataclass
from importlib import util
from typing import Literal

Vector = tuple[float, ...]

_MODULES = {"box2d": "Box2D"}
"""The import name of an extra, where it differs from the extra's own name."""


@dataclass(frozen=True)
class EnvCard:
    """One environment. Its Gymnasium id, batches, pictures and heuristics are derived from this card.

    Code is referred to by import paths (``"module:name"``), so a card imports nothing.

    Attributes:
        name: Name for :func:`morl_envs.make_batch` and the command line; the Gymnasium id where ``world`` is ``None``.
        objectives: Names of the objectives, in the order of the reward vector; all are maximised.
        observation_dim: Size of an observation.
        action_dim: Size of an action; 1 for discrete actions.
        num_actions: Number of discrete actions; ``None`` when actions are continuous.
        horizon: Steps after which an episode is truncated.
        preferences: The preferences of the paper, or those of this project if the paper has none.
        hv_low: Undiscounted return that counts as 0 in the hypervolume of a run.
        hv_high: Undiscounted return that counts as 1.
        hv_origin: Source of these bounds.
        normalize_observations: Whether a policy should see observations scaled by running statistics.
        values: For observations that are codes without an order: the number of values of each entry, counted from 0. A
            policy receives them as one-hot vectors, and ``observation_dim`` is the size of these.
        world: Class of a batched torch environment; ``None`` for an environment that Gymnasium makes.
        drawing: Function ``(env, row, trail) -> Canvas`` that draws the environment; Gymnasium's draw themselves.
        heuristics: Pairs of a name and a policy, from observations ``[N, n]`` to actions ``[N, a]``.
        exact_front: Function ``(card, gamma) -> points [k, m]``; ``None`` if the exact front is not known.
        extra: Optional dependency group of ``morl-blocks`` that the environment needs.
        note: Caveats that a user should know before using its results.
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
        """``"torch"`` for a batched torch environment, ``"gymnasium"`` for a registered environment."""
        return "gymnasium" if self.world is None else "torch"

    @property
    def class_name(self) -> str | None:
        """Name of the environment's class; ``None`` for Gymnasium's environments."""
        return None if self.world is None else self.world.rpartition(":")[2]

    @property
    def gymnasium_id(self) -> str:
        """Name for ``gymnasium.make``."""
        return self.name if self.world is None else f"morl_envs/{self.class_name}-v0"

    def missing(self) -> str | None:
        """Return the extra that the environment needs and that is not installed, or ``None``."""
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
