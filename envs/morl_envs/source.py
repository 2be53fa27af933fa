"""Sources of environments: a name, a Gymnasium id, or a user's file or function."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from morl_envs._checks import batch, flag, numbers, path, texts, whole
from morl_envs._checks import device as check_device
from morl_envs._checks import seeds as check_seeds
from morl_envs._names import fail, unknown
from morl_envs.cards import CARDS, EnvCard, known_card
from morl_envs.copied import with_own_tensors
from morl_envs.factory import make_batch
from morl_envs.gymnasium_batch import GymnasiumBatch
from morl_envs.plugin import Plugin
from morl_envs.protocol import TensorEnv
from morl_envs.user_files import accepts, find_plugin, in_file, opens_batches, split

Make = Callable[[int, Sequence[int]], TensorEnv]


@dataclass(frozen=True)
class _Opener:
    """Open a batch, check its interface, and copy its results if it might reuse its tensors."""

    make: Callable[[int, Sequence[int]], Any]

    def __call__(self, num_envs: int, seeds: Sequence[int]) -> TensorEnv:
        return with_own_tensors(self.make(num_envs, seeds))


@dataclass(frozen=True)
class EnvSource:
    """A source of environments, with the properties that plans, stores, tables and the trainer need.

    Args:
        name: Name in logs, stores and checkpoints.
        make: ``(number of environments, one seed each) -> TensorEnv``. The batch that it opens may reuse its tensors.
        hv_low: Return of each objective that counts as 0 in the hypervolume; without bounds runs are scored by EU.
        hv_high: Return of each objective that counts as 1.
        normalize_observations: Scale observations by running statistics of the run.
        objectives: Names of the objectives; empty if they are known only after opening it (see :meth:`complete`).
        preferences: Default preferences of a training; by default one uniform preference.
        horizon: Steps after which an episode is truncated.
        observation_dim: Size of an observation.
        plugin: The user's file that defines the environment; it is sent with a sweep.
        card: The card of the environment, if it has one.
        draw: Like ``make``, for environments that can be filmed; ``None`` if they cannot.

    Example:
        >>> source = find_source("deep-sea-treasure-v0")
        >>> source.objectives, source.preferences, source.horizon
        (('treasure', 'time'), ((0.5, 0.5),), 100)
    """

    name: str
    make: Make
    hv_low: tuple[float, ...] | None = None
    hv_high: tuple[float, ...] | None = None
    normalize_observations: bool = False
    objectives: tuple[str, ...] = ()
    preferences: tuple[tuple[float, ...], ...] = ()
    horizon: int | None = None
    observation_dim: int | None = None
    plugin: Plugin | None = None
    card: EnvCard | None = None
    draw: Callable[[int, Sequence[int]], Any] | None = None

    def __post_init__(self) -> None:
        """Check the fields, and make the results of every batch safe to keep."""
        flag("normalize_observations", self.normalize_observations)
        texts("name", [self.name])
        texts("objectives", self.objectives)
        for name in ("horizon", "observation_dim"):
            if getattr(self, name) is not None:
                whole(name, getattr(self, name), 1)
        for name in ("hv_low", "hv_high"):
            if getattr(self, name) is not None:
                numbers(name, getattr(self, name))
        rows = self.preferences if isinstance(self.preferences, Sequence) else (self.preferences,)
        for row in rows:
            numbers("preferences", row)
        if not isinstance(self.make, _Opener):
            if not callable(self.make):
                fail("make", "be a function (num_envs, seeds) -> TensorEnv", repr(self.make))
            object.__setattr__(self, "make", _Opener(self.make))

    @property
    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
        """Return ``hv_low`` and ``hv_high``, ``None`` without either."""
        return None if self.hv_low is None or self.hv_high is None else (self.hv_low, self.hv_high)

    @property
    def extra(self) -> str | None:
        """Group of optional packages that the environment requires."""
        return None if self.card is None else self.card.extra

    def check(self) -> None:
        """Require the optional packages of the environment; ``ImportError`` names the extra."""
        if self.card is not None:
            self.card.check()

    @contextmanager
    def opened(self, num_envs: int, seeds: Sequence[int]) -> Iterator[TensorEnv]:
        """Open environments with ``make``, and close them at the end."""
        check_seeds(seeds, batch(num_envs, "num_envs"), "seeds")
        env = self.make(num_envs, seeds)
        try:
            yield env
        finally:
            close(env)

    def is_discrete(self) -> bool:
        """Return whether actions are discrete; opens an environment if there is no card."""
        if self.card is not None:
            return self.card.num_actions is not None
        with self.opened(1, [0]) as env:
            return env.num_actions is not None

    def complete(self) -> "EnvSource":
        """Return the source with all properties filled in; opens one environment if some are missing.

        Example:
            >>> from morl_envs.toy import toy
            >>> toy(objectives=2).complete().preferences
            ((0.5, 0.5),)
        """
        if self.objectives and self.preferences and self.horizon and self.observation_dim:
            return self
        with self.opened(1, [0]) as env:
            names = self.objectives or tuple(env.objectives)
            if len(names) != len(env.objectives):
                fail("objectives", f"name the {len(env.objectives)} objectives of {self.name}", names)
            return replace(
                self,
                objectives=names,
                preferences=self.preferences or ((1 / len(names),) * len(names),),
                horizon=env.horizon,
                observation_dim=env.observation_dim,
            )


def find_source(
    env: "str | EnvSource | EnvCard | Make | Any",
    device: str = "cpu",
    plugins: Sequence[Plugin] = (),
    folder: str | Path = ".",
) -> EnvSource:
    """Return the source of an environment.

    Args:
        env: A name of ``morl_envs.CARDS`` (any case), any registered Gymnasium environment with vector rewards,
            ``"my_env.py:make_env"``, a card, a source, or a function or class. A function is called with
            ``(num_envs, seeds)`` and opens a ``TensorEnv``, or with nothing and makes one Gymnasium environment.
        device: Device of the torch environments; Gymnasium environments run on the CPU.
        plugins: Files that were sent with a job; ``my_env.py`` is looked up among them first.
        folder: Folder that paths of files are relative to.

    Returns:
        The source. From a name or a card it is complete; for a function, call :meth:`EnvSource.complete`.

    Example:
        >>> find_source("Stealth").name, find_source("mo-mountaincar-v0").objectives
        ('stealth', ('objective_0', 'objective_1', 'objective_2'))
    """
    path("folder", folder)
    for plugin in plugins if isinstance(plugins, Sequence) else (plugins,):
        if not isinstance(plugin, Plugin):
            fail("plugins", "be a list of Plugin", repr(plugins))
    if device != "cpu":
        check_device(device)
    if isinstance(env, EnvSource):
        return env
    if isinstance(env, EnvCard):
        return _carded(env, device)
    if isinstance(env, str):
        return _named(env, device, plugins, folder)
    if not callable(env):
        fail("env", "be a name, a card, an EnvSource or a function", repr(env))
    return _made(getattr(env, "__name__", "custom"), env)


def close(env: TensorEnv) -> None:
    """Close environments that have a ``close`` method."""
    getattr(env, "close", lambda: None)()


def sizes(env: TensorEnv) -> dict[str, Any]:
    """Return what distinguishes environments of the same name, as plain numbers and lists."""
    bounds = {"action_low": env.action_low, "action_high": env.action_high}
    return {
        "objectives": list(env.objectives),
        "observation_dim": env.observation_dim,
        "action_dim": env.action_dim,
        "num_actions": env.num_actions,
        **{name: None if bound is None else bound.tolist() for name, bound in bounds.items()},
        "horizon": env.horizon,
    }


def _named(env: str, device: str, plugins: Sequence[Plugin], folder: str | Path) -> EnvSource:
    """Return the source of a name: that of a file, a card, or a registered environment."""
    if (file := split(env)) is not None:
        plugin = find_plugin(file.path, plugins, folder)
        found = in_file(plugin, file.attribute, (EnvSource, EnvCard))
        name = f"{Path(file.path).name}:{file.attribute}"
        source = _made(name, found) if callable(found) else find_source(found, device)
        return replace(source, name=name, plugin=plugin).complete()
    if (card := known_card(env)) is not None:
        return _carded(card, device)
    registered = _registered_ids()
    if env.lower() not in registered:
        raise unknown("env", "be a known environment", env, [*CARDS, *registered.values()])
    return _registered(registered[env.lower()])


def _carded(card: EnvCard, device: str) -> EnvSource:
    """Return the source of a card."""
    options = {"device": device} if card.kind == "torch" else {}
    drawn = {} if card.kind == "torch" else {"render_mode": "rgb_array"}
    return EnvSource(
        card.name,
        lambda num_envs, seeds: make_batch(card, num_envs, seeds, **options),
        card.hv_low,
        card.hv_high,
        card.normalize_observations,
        objectives=card.objectives,
        preferences=card.preferences,
        horizon=card.horizon,
        observation_dim=card.observation_dim,
        card=card,
        draw=lambda num_envs, seeds: make_batch(card, num_envs, seeds, **drawn),
    )


def _made(name: str, make: Callable[..., Any]) -> EnvSource:
    """Return the source of a function or class: it opens batches, or makes one Gymnasium environment at a time."""
    if opens_batches(name, make):
        return EnvSource(name, make)
    return _of_gymnasium(name, make, drawn=accepts(make, "render_mode"))


def _registered(env: str) -> EnvSource:
    """Return the source of a Gymnasium environment without a card."""
    import gymnasium

    if gymnasium.spec(env).max_episode_steps is None:
        batch = f"GymnasiumBatch({env!r}, n, seeds, horizon=200)"
        raise ValueError(
            f"`env` must have a time limit, got {env!r}, which has none. "
            f"Give it one: env=EnvSource({env!r}, lambda n, seeds: {batch})."
        )
    try:
        return _of_gymnasium(env, env, drawn=True).complete()
    except gymnasium.error.DependencyNotInstalled as error:
        raise ImportError(f"{env} cannot be made: {error}") from error


def _of_gymnasium(name: str, env: str | Callable[..., Any], *, drawn: bool) -> EnvSource:
    """Return the source of an environment that Gymnasium or a user's function makes one at a time."""
    return EnvSource(
        name,
        lambda num_envs, seeds: GymnasiumBatch(env, num_envs, seeds),
        draw=(lambda num_envs, seeds: GymnasiumBatch(env, num_envs, seeds, render_mode="rgb_array")) if drawn else None,
    )


def _registered_ids() -> dict[str, str]:
    """Return the registered ids by their lower-case form."""
    import gymnasium
    import mo_gymnasium  # noqa: F401 - registers its environments

    return {name.lower(): name for name in gymnasium.registry}
