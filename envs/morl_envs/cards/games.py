"""MO-Gymnasium's small tasks: grids with a known front, the mine cart and the lunar lander."""

from morl_envs.cards.card import EnvCard

_THEIRS = "morl_envs.fronts:mo_gymnasium_front"

_TREASURE = EnvCard(
    name="deep-sea-treasure-v0",
    objectives=("treasure", "time"),
    observation_dim=2,
    action_dim=1,
    num_actions=4,
    horizon=100,
    preferences=((0.5, 0.5),),
    hv_low=(0.0, -100.0),
    hv_high=(23.7, -1.0),
    hv_origin="analytic: no treasure to the largest one, 100 steps to one; not an environment of the paper",
    exact_front=_THEIRS,
)

_CONCAVE_TREASURE = EnvCard(
    name="deep-sea-treasure-concave-v0",
    objectives=("treasure", "time"),
    observation_dim=2,
    action_dim=1,
    num_actions=4,
    horizon=100,
    preferences=((0.5, 0.5),),
    hv_low=(0.0, -100.0),
    hv_high=(124.0, -1.0),
    hv_origin="analytic: no treasure to the largest one, 100 steps to one; not an environment of the paper",
    exact_front=_THEIRS,
)

_FRUIT_TREE = EnvCard(
    name="fruit-tree-v0",
    objectives=("protein", "carbs", "fats", "vitamins", "minerals", "water"),
    observation_dim=2,
    action_dim=1,
    num_actions=2,
    horizon=6,
    preferences=((1 / 6,) * 6,),
    hv_low=(0.0,) * 6,
    hv_high=(10.0,) * 6,
    hv_origin="analytic: the limits of a fruit's nutrients, 0 and 10; not an environment of the paper",
    normalize_observations=True,
    exact_front=_THEIRS,
    note="no registered time limit: an episode ends at a leaf, after 6 choices, and the horizon says the same",
)

_RESOURCES = EnvCard(
    name="resource-gathering-v0",
    objectives=("safety", "gold", "diamond"),
    observation_dim=4,
    action_dim=1,
    num_actions=4,
    horizon=100,
    preferences=((1 / 3,) * 3,),
    hv_low=(-1.0, 0.0, 0.0),
    hv_high=(0.0, 1.0, 1.0),
    hv_origin="analytic: killed or not, each resource brought home or not; not an environment of the paper",
    exact_front="morl_envs.fronts:resource_gathering_front",
    note="with gamma 1 the objectives do not conflict: a way of 18 steps brings both resources home past no enemy",
)

_FOUR_ROOM = EnvCard(
    name="four-room-v0",
    objectives=("blue squares", "green triangles", "red circles"),
    observation_dim=14,
    action_dim=1,
    num_actions=4,
    horizon=200,
    preferences=((1 / 3,) * 3,),
    hv_low=(0.0,) * 3,
    hv_high=(5.0,) * 3,
    hv_origin="analytic: nothing to all four shapes of a kind and the goal's 1; not an environment of the paper",
    normalize_observations=True,
)

_MINECART = EnvCard(
    name="minecart-v0",
    objectives=("first ore", "second ore", "fuel"),
    observation_dim=7,
    action_dim=1,
    num_actions=6,
    horizon=1000,
    preferences=((1 / 3,) * 3,),
    hv_low=(0.0, 0.0, -20.0),
    hv_high=(1.5, 1.5, 0.0),
    hv_origin=(
        "analytic for the ores (an empty to a full cart) and for fuel at 0; chosen at the other end: 1000 idle steps "
        "burn 20; not an environment of the paper"
    ),
    note="draws from NumPy's global generator: it neither repeats nor resumes exactly, and says so in a warning",
)

_LANDER = EnvCard(
    name="mo-lunar-lander-continuous-v3",
    objectives=("landing", "shaping", "main engine", "side engine"),
    observation_dim=8,
    action_dim=2,
    num_actions=None,
    horizon=1000,
    preferences=((0.25,) * 4,),
    hv_low=(-100.0, -200.0, -1000.0, -1000.0),
    hv_high=(100.0, 250.0, 0.0, 0.0),
    hv_origin=(
        "analytic for the landing (crash or rest) and the engines (full or no power over 1000 steps); chosen for the "
        "shaping: about a random policy's worst and a little above a good landing; not an environment of the paper"
    ),
    extra="box2d",
)

GAMES = (_TREASURE, _CONCAVE_TREASURE, _FRUIT_TREE, _RESOURCES, _FOUR_ROOM, _MINECART, _LANDER)
