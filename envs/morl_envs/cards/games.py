"""MO-Gymnasium's small tasks: grids with a known front, the mine cart and the lunar lander."""

from dataclasses import replace
from typing import Any

from morl_envs.cards.card import EnvCard, Vector

_THEIRS = "morl_envs.fronts:mo_gymnasium_front"


def _game(
    name: str,
    objectives: tuple[str, ...],
    sizes: tuple[int, int | None, int],
    bounds: tuple[Vector, Vector],
    origin: str,
    *,
    action_dim: int = 1,
    **more: Any,
) -> EnvCard:
    """Return the card of a game from its (observation, number of actions, horizon) and the source of its bounds.

    The paper has none of these games, so the preference is uniform.
    """
    observation_dim, num_actions, horizon = sizes
    even = (1 / len(objectives),) * len(objectives)
    numbers = (observation_dim, action_dim, num_actions, horizon)
    return EnvCard(name, objectives, *numbers, (even,), *bounds, f"{origin}; not an environment of the paper", **more)


_TREASURE = _game(
    "deep-sea-treasure-v0",
    ("treasure", "time"),
    (2, 4, 100),
    ((0.0, -100.0), (23.7, -1.0)),
    "analytic: no treasure to the largest one, 100 steps to one",
    exact_front=_THEIRS,
)

GAMES = (
    _TREASURE,
    replace(_TREASURE, name="deep-sea-treasure-concave-v0", hv_high=(124.0, -1.0)),
    _game(
        "fruit-tree-v0",
        ("protein", "carbs", "fats", "vitamins", "minerals", "water"),
        (71, 2, 6),
        ((0.0,) * 6, (10.0,) * 6),
        "analytic: the limits of a fruit's nutrients, 0 and 10",
        values=(7, 64),
        exact_front=_THEIRS,
        note="no registered time limit: an episode ends at a leaf, after 6 choices, and the horizon says the same; "
        "observations are one-hot vectors of MO-Gymnasium's row and index, whose neighbours have nothing in common",
    ),
    _game(
        "resource-gathering-v0",
        ("safety", "gold", "diamond"),
        (4, 4, 100),
        ((-1.0, 0.0, 0.0), (0.0, 1.0, 1.0)),
        "analytic: killed or not, each resource brought home or not",
        exact_front="morl_envs.fronts:resource_gathering_front",
        note="with gamma 1 the objectives do not conflict: a way of 18 steps brings both resources home past no enemy",
    ),
    _game(
        "four-room-v0",
        ("blue squares", "green triangles", "red circles"),
        (14, 4, 200),
        ((0.0,) * 3, (5.0,) * 3),
        "analytic: nothing to all four shapes of a kind and the goal's 1",
        normalize_observations=True,
    ),
    _game(
        "minecart-v0",
        ("first ore", "second ore", "fuel"),
        (7, 6, 1000),
        ((0.0, 0.0, -20.0), (1.5, 1.5, 0.0)),
        "analytic for the ores (an empty to a full cart) and for fuel at 0; chosen at the other end: 1000 idle steps "
        "burn 20",
        note="draws from NumPy's global generator: it neither repeats nor resumes exactly, and says so in a warning",
    ),
    _game(
        "mo-lunar-lander-continuous-v3",
        ("landing", "shaping", "main engine", "side engine"),
        (8, None, 1000),
        ((-100.0, -200.0, -1000.0, -1000.0), (100.0, 250.0, 0.0, 0.0)),
        "analytic for the landing (crash or rest) and the engines (full or no power over 1000 steps); chosen for the "
        "shaping: about a random policy's worst and a little above a good landing",
        action_dim=2,
        extra="box2d",
    ),
)
