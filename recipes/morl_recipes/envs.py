"""Where the trainer gets its environments from: a source that opens batches with the tensor interface."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from morl_envs.protocol import TensorEnv
from morl_recipes._checks import fail

Make = Callable[[int, Sequence[int]], TensorEnv]


@dataclass(frozen=True)
class EnvSource:
    """Where environments come from, with what the trainer has to know before it opens one.

    Args:
        name: Name in logs and checkpoints.
        make: ``(number of environments, one seed each) -> TensorEnv``.
        hv_low: Return of each objective that counts as 0 in the hypervolume; without bounds runs are judged by EU.
        hv_high: Return of each objective that counts as 1.
        normalize_observations: Scale observations by running statistics of the run.
    """

    name: str
    make: Make
    hv_low: tuple[float, ...] | None = None
    hv_high: tuple[float, ...] | None = None
    normalize_observations: bool = False


def find_source(env: "str | EnvSource | Make | Any", device: str = "cpu") -> EnvSource:
    """Return the source of an environment.

    Args:
        env: A name of ``morl_envs.CARDS`` or of any registered Gymnasium environment with vector rewards, a card, a
            source, or a function ``(num_envs, seeds) -> TensorEnv``.
        device: Where the torch worlds live; Gymnasium environments live on the CPU.
    """
    if isinstance(env, EnvSource):
        return env
    if callable(env):
        return EnvSource(getattr(env, "__name__", "custom"), env)
    if not isinstance(env, str) and not hasattr(env, "hv_low"):
        fail("env", "be a name, a card, an EnvSource or a function", repr(env))
    from morl_envs.cards import CARDS

    return (
        _registered(env) if isinstance(env, str) and env not in CARDS and _is_registered(env) else _carded(env, device)
    )


def sizes(env: TensorEnv) -> dict[str, Any]:
    """Return what tells environments of one name apart, as plain numbers and lists."""
    bounds = {"action_low": env.action_low, "action_high": env.action_high}
    return {
        "objectives": list(env.objectives),
        "observation_dim": env.observation_dim,
        "action_dim": env.action_dim,
        "num_actions": env.num_actions,
        **{name: None if bound is None else bound.tolist() for name, bound in bounds.items()},
        "horizon": env.horizon,
    }


def _carded(env: Any, device: str) -> EnvSource:
    """Return the source of a name or card; unknown names are refused with the nearest known ones."""
    from morl_envs.factory import find_card, make_batch

    card = find_card(env)
    options = {"device": device} if card.kind == "torch" else {}

    def make(num_envs: int, seeds: Sequence[int]) -> TensorEnv:
        return make_batch(card, num_envs, seeds, **options)

    return EnvSource(card.name, make, card.hv_low, card.hv_high, card.normalize_observations)


def _registered(env: str) -> EnvSource:
    """Return the source of a Gymnasium environment without a card."""
    import gymnasium

    from morl_envs.gymnasium_batch import GymnasiumBatch

    if gymnasium.spec(env).max_episode_steps is None:
        batch = f"GymnasiumBatch({env!r}, n, seeds, horizon=200)"
        raise ValueError(
            f"`env` must have a time limit, got {env!r}, which has none. "
            f"Give it one: env=EnvSource({env!r}, lambda n, seeds: {batch})."
        )

    def make(num_envs: int, seeds: Sequence[int]) -> TensorEnv:
        try:
            return GymnasiumBatch(env, num_envs, seeds)
        except AttributeError as error:
            if "reward_space" not in str(error):
                raise
            raise ValueError(f"`env` must have a vector reward, got {env!r}, which has no `reward_space`.") from error

    return EnvSource(env, make)


def _is_registered(env: str) -> bool:
    import gymnasium
    import mo_gymnasium  # noqa: F401 - registers its environments

    return env in gymnasium.registry
