"""Typed cards: what a recipe, a table and a reader need to know about an environment, without creating it."""

from dataclasses import dataclass
from typing import Literal

Vector = tuple[float, ...]


@dataclass(frozen=True)
class EnvCard:
    """One environment.

    Attributes:
        name: Name for :func:`morl_envs.make_batch` and the command line.
        kind: ``"torch"`` for the batched worlds of this package, ``"gymnasium"`` for a registered environment.
        objectives: Names of the objectives, in the order of the reward vector; all are maximised.
        observation_dim: Numbers per observation.
        action_dim: Numbers per action; 1 for discrete actions.
        num_actions: Number of discrete actions; ``None`` when actions are continuous.
        horizon: Steps after which an episode is truncated.
        gamma: Discount.
        preferences: The preferences of the paper (of this project, where the paper has none).
        hv_low: Undiscounted return that counts as 0 in the hypervolume of a run.
        hv_high: Undiscounted return that counts as 1.
        hv_origin: Where these bounds come from.
        normalize_observations: Whether a policy should see observations scaled by running statistics.
        extra: Optional dependency group of ``morl-blocks`` that the environment needs.
    """

    name: str
    kind: Literal["torch", "gymnasium"]
    objectives: tuple[str, ...]
    observation_dim: int
    action_dim: int
    num_actions: int | None
    horizon: int
    preferences: tuple[Vector, ...]
    hv_low: Vector
    hv_high: Vector
    hv_origin: str
    normalize_observations: bool
    gamma: float = 0.99
    extra: str | None = None


def _share(*weights: float) -> Vector:
    """Scale weights to sum 1."""
    return tuple(weight / sum(weights) for weight in weights)


_STEALTH = EnvCard(
    name="stealth",
    kind="torch",
    objectives=("score", "stealth", "exploration"),
    observation_dim=30,
    action_dim=2,
    num_actions=None,
    horizon=400,
    preferences=(
        (0.1, 0.7, 0.2),
        (0.2, 0.2, 0.6),
        (0.2, 0.6, 0.2),
        (1 / 3, 1 / 3, 1 / 3),
        (0.4, 0.4, 0.2),
        (0.5, 0.3, 0.2),
        (0.6, 0.3, 0.1),
        (0.8, 0.1, 0.1),
    ),
    hv_low=(0.81, 48.7, 0.0),
    hv_high=(0.81 + 886_000 / (351.3 * 40.0), 400.0, 40.0),
    hv_origin=(
        "low and the product of the ranges (886,000) fit the paper's tables to three digits; the tables cannot tell "
        "the single ranges apart, so stealth and exploration end at their extremes over 400 steps (400 and 40) and the "
        "product leaves 63.86 for the score"
    ),
    normalize_observations=False,
)

_FROGGER = EnvCard(
    name="frogger",
    kind="torch",
    objectives=("goal", "bounds", "avoid"),
    observation_dim=20,
    action_dim=2,
    num_actions=None,
    horizon=1000,
    preferences=((0.4, 0.05, 0.55),),
    hv_low=(-15.0, -25.0, -25.0),
    hv_high=(12.0, 100.0, 100.0),
    hv_origin=(
        "analytic: low is a crash at once (the printed penalties), high is the goal bonus with the longest way there "
        "(10 + 2) and the full safety rewards over 1000 steps (0.1 each); the paper's own bounds are not printed"
    ),
    normalize_observations=False,
)

_FORMATION = EnvCard(
    name="formation",
    kind="torch",
    objectives=("goal", "bounds", "avoid", "formation"),
    observation_dim=22,
    action_dim=6,
    num_actions=None,
    horizon=2000,
    preferences=((0.45, 0.05, 0.25, 0.25),),
    hv_low=(-15.0, 0.0, -10.0, 0.0),
    hv_high=(15.0, 200.0, 400.0, 2000.0),
    hv_origin=(
        "analytic: low is top speed for 2000 steps and a collision (-10 - 5), no bounds reward, a collision at once, "
        "and a shape whose bonus and tether cancel; high is the goal bonus with the longest way there (10 + 5) and the "
        "full rewards over 2000 steps (0.1, 0.2 and 1 each); the paper's own bounds are not printed"
    ),
    normalize_observations=False,
)


def _mujoco(
    name: str,
    sizes: tuple[int, int],
    objectives: tuple[str, ...],
    preference: Vector,
    bounds: tuple[Vector, Vector],
    speed: str,
) -> EnvCard:
    """Return the card of a MO-Gymnasium locomotion task."""
    return EnvCard(
        name=name,
        kind="gymnasium",
        objectives=objectives,
        observation_dim=sizes[0],
        action_dim=sizes[1],
        num_actions=None,
        horizon=1000,
        preferences=(preference,),
        hv_low=bounds[0],
        hv_high=bounds[1],
        hv_origin=(
            "analytic for the control cost (all actuators saturated or at rest over 1000 steps, with the bonus for "
            f"staying up); for the speeds from 0 return to {speed}, which is chosen; the paper prints no numbers"
        ),
        normalize_observations=True,
        extra="mujoco",
    )


_MUJOCO = (
    _mujoco(
        "mo-halfcheetah-v5",
        (17, 6),
        ("speed", "control cost"),
        _share(1.0, 0.1),
        ((0.0, -6000.0), (10_000.0, 0.0)),
        "10 m/s",
    ),
    _mujoco(
        "mo-humanoid-v5",
        (348, 17),
        ("speed", "control cost"),
        _share(1.25, 0.1),
        ((0.0, 0.0), (10_000.0, 5000.0)),
        "5 m/s with the bonus of 5 per step",
    ),
    _mujoco(
        "mo-ant-v5",
        (105, 8),
        ("x speed", "y speed", "control cost"),
        _share(1.0, 0.0, 0.5),
        ((0.0, 0.0, -7000.0), (6000.0, 6000.0, 1000.0)),
        "5 m/s with the bonus of 1 per step",
    ),
    _mujoco(
        "mo-walker2d-v5",
        (17, 6),
        ("speed", "control cost"),
        _share(1.0, 0.001),
        ((0.0, -5000.0), (6000.0, 1000.0)),
        "5 m/s with the bonus of 1 per step",
    ),
)

_TREASURE = EnvCard(
    name="deep-sea-treasure-v0",
    kind="gymnasium",
    objectives=("treasure", "time"),
    observation_dim=2,
    action_dim=1,
    num_actions=4,
    horizon=100,
    preferences=((0.5, 0.5),),
    hv_low=(0.0, -100.0),
    hv_high=(23.7, -1.0),
    hv_origin="analytic: no treasure to the largest one, 100 steps to one; not an environment of the paper",
    normalize_observations=False,
)

CARDS: dict[str, EnvCard] = {card.name: card for card in (_STEALTH, _FROGGER, _FORMATION, *_MUJOCO, _TREASURE)}
