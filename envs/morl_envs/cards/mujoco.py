"""MO-Gymnasium's locomotion tasks: the four of the paper, and those on which published fronts are compared."""

from morl_envs.cards.card import EnvCard, Vector

_COST = "analytic for the control cost (actuators saturated or at rest for 1000 steps, with any bonus for staying up)"


def _share(*weights: float) -> Vector:
    """Scale weights to sum 1."""
    return tuple(weight / sum(weights) for weight in weights)


def _mujoco(
    name: str,
    sizes: tuple[int, int],
    objectives: tuple[str, ...],
    preference: Vector,
    bounds: tuple[Vector, Vector],
    origin: str,
) -> EnvCard:
    """Return the card of a locomotion task of 1000 steps."""
    return EnvCard(
        name=name,
        objectives=objectives,
        observation_dim=sizes[0],
        action_dim=sizes[1],
        num_actions=None,
        horizon=1000,
        preferences=(preference,),
        hv_low=bounds[0],
        hv_high=bounds[1],
        hv_origin=origin,
        normalize_observations=True,
        extra="mujoco",
    )


def _paper(speed: str) -> str:
    """Return the source of the bounds of one of the paper's tasks."""
    return f"{_COST}; for the speeds from 0 return to {speed}, which is chosen; the paper prints no numbers"


def _ours(chosen: str, cost: str = _COST) -> str:
    """Return the source of the bounds of a task that is not in the paper."""
    return "; ".join(part for part in (cost, f"chosen for the rest: {chosen}", "not a task of the paper") if part)


MUJOCO = (
    _mujoco(
        "mo-halfcheetah-v5",
        (17, 6),
        ("speed", "control cost"),
        _share(1.0, 0.1),
        ((0.0, -6000.0), (10_000.0, 0.0)),
        _paper("10 m/s"),
    ),
    _mujoco(
        "mo-humanoid-v5",
        (348, 17),
        ("speed", "control cost"),
        _share(1.25, 0.1),
        ((0.0, 0.0), (10_000.0, 5000.0)),
        _paper("5 m/s with the bonus of 5 per step"),
    ),
    _mujoco(
        "mo-ant-v5",
        (105, 8),
        ("x speed", "y speed", "control cost"),
        _share(1.0, 0.0, 0.5),
        ((0.0, 0.0, -7000.0), (6000.0, 6000.0, 1000.0)),
        _paper("5 m/s with the bonus of 1 per step"),
    ),
    _mujoco(
        "mo-walker2d-v5",
        (17, 6),
        ("speed", "control cost"),
        _share(1.0, 0.001),
        ((0.0, -5000.0), (6000.0, 1000.0)),
        _paper("5 m/s with the bonus of 1 per step"),
    ),
    _mujoco(
        "mo-ant-2obj-v5",
        (105, 8),
        ("x speed", "y speed"),
        _share(1.0, 1.0),
        ((0.0, 0.0), (6000.0, 6000.0)),
        _ours("from 0 return to 5 m/s with the bonus of 1 per step", cost=""),
    ),
    _mujoco(
        "mo-hopper-v5",
        (11, 3),
        ("speed", "height", "control cost"),
        _share(1.0, 1.0, 1.0),
        ((0.0, 0.0, -2000.0), (4000.0, 6000.0, 1000.0)),
        _ours("from 0 return to 3 m/s and to 0.5 m above the start on average, with the bonus of 1 per step"),
    ),
    _mujoco(
        "mo-hopper-2obj-v5",
        (11, 3),
        ("speed", "height"),
        _share(1.0, 1.0),
        ((0.0, 0.0), (4000.0, 6000.0)),
        _ours("from 0 return to 3 m/s and to 0.5 m above the start on average, with the bonus of 1 per step", cost=""),
    ),
    _mujoco(
        "mo-swimmer-v5",
        (8, 2),
        ("speed", "control cost"),
        _share(1.0, 1.0),
        ((0.0, -2000.0), (400.0, 0.0)),
        _ours("from 0 return to 0.4 m/s"),
    ),
)
