"""Play a saved policy: its returns over many episodes, and a video of one; film strips of a front."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from morl_blocks.metrics import expected_utility, run_hypervolume
from morl_envs.source import EnvSource
from morl_recipes.common import checks
from morl_recipes.common.atomic_files import staged
from morl_recipes.common.text import for_terminal
from morl_recipes.evaluation.episodes import Policy, episode_returns
from morl_recipes.evaluation.saved_policy import Point, acting
from morl_recipes.recipe.paper import preference_label
from morl_recipes.running.stored_runs import open_policy
from morl_recipes.store.front import FILM
from morl_recipes.store.store import Store

if TYPE_CHECKING:
    from morl_recipes.running.fronts.front import Front

FRAMES = 200
"""Approximate number of pictures of a video, whatever the length of the episode."""
STRIP_FRAMES, STRIP_WIDTH = 7, 170
"""Pictures of a front's film strip, and their width."""


@dataclass(frozen=True)
class Played:
    """Returns and scores of a policy.

    Attributes:
        run_id: The run.
        preference: The preference that it was played for.
        objectives: Names of the objectives.
        returns: Undiscounted returns of every episode, ``[episodes, m]``.
        hv: Hypervolume of the mean returns; ``None`` without bounds.
        eu: Expected utility of the mean returns.
    """

    run_id: str
    preference: tuple[float, ...]
    objectives: tuple[str, ...]
    returns: Tensor
    hv: float | None
    eu: float


def play(
    folder: str | Path,
    *,
    run: str | None = None,
    point: Point = "peak",
    preference: tuple[float, ...] | None = None,
    episodes: int = 20,
    seed: int = 0,
    video: str | Path | None = None,
    env: Any = None,
) -> Played:
    """Play a saved policy.

    Args:
        folder: A result store.
        run: A run id or a part of one, such as a method; the best of several runs, and by default the best of all.
        point: The policy of the best validation, or the last.
        preference: Another preference than the one it was trained for; the policy gets it as an input.
        episodes: Number of episodes.
        seed: Seed of the first episode; episode k has seed + k.
        video: A ``.gif`` or ``.mp4`` file for a film of the first episode; see also :func:`film_run`.
        env: The environment, if it was made in Python and has no name; as for :func:`~morl_recipes.train`.

    Returns:
        The returns and scores.
    """
    if video is not None:
        check_video(video)
    for name, value, low in (("episodes", episodes, 1), ("seed", seed, 0)):
        checks.between(name, checks.at_least(name, value, low), low, 2**31)
    store = Store.open(folder)
    row, source, saved = open_policy(store, run, point, env)
    weights = tuple(row["preference"])
    if preference is not None:
        weights = checks.preference(preference, len(source.objectives), name="preference")
    with source.opened(episodes, range(seed, seed + episodes)) as worlds:
        returns = episode_returns(worlds, acting(saved, weights))
    mean, info = returns.mean(0).double().numpy(), store.manifest.environments[row["env"]]
    hv = None if info.bounds is None else float(run_hypervolume(mean, *info.bounds))
    played = Played(row["run_id"], weights, source.objectives, returns, hv, float(expected_utility(mean, weights)))
    if video is not None:
        film_run(store, played, video, point=point, seed=seed, env=env)
    return played


def film_run(
    folder: str | Path | Store,
    played: Played,
    path: str | Path,
    *,
    point: Point = "peak",
    seed: int = 0,
    env: Any = None,
) -> None:
    """Film the first of the episodes that :func:`play` played, into a ``.gif`` or ``.mp4`` file."""
    row, source, policy = open_policy(Store.open(folder), played.run_id, point, env)
    which, label = "best" if point == "peak" else "last", preference_label(played.preference)
    caption = f"{row['method']}, preference {label}, {which} policy of seed {row['seed']}, episode {seed}"
    film(source, acting(policy, played.preference), Path(path), seed, for_terminal(caption))


def film(source: EnvSource, policy: Policy, path: Path, seed: int, caption: str = "") -> None:
    """Write a video of one episode with a caption; the file appears only when it is complete."""
    from morl_envs.rendering.gymnasium_film import draw_without_a_screen, record_gymnasium
    from morl_envs.rendering.video import captioned, record_episode, save_video

    check_video(path)
    if source.draw is None:
        raise ValueError(f"{source.name} cannot be filmed: it does not say how to draw it.")
    draw_without_a_screen()
    env = source.draw(1, [seed])
    every = max(1, env.horizon // FRAMES)
    if source.card is not None and source.card.kind == "torch":
        pictures = record_episode(env, policy, every=every)
    else:
        pictures = record_gymnasium(env, policy, source.name, every=every)
    with staged(path) as temporary:
        save_video(captioned(pictures, caption) if caption else pictures, temporary)


def film_front(front: Front, folder: Path, source: EnvSource) -> Path | None:
    """Write ``film.png``: a row of frames per preference, from the first to the last step of one episode.

    Returns:
        The path; ``None`` if it cannot be filmed: only the torch environments (stealth, frogger, formation) can.
    """
    from PIL import Image

    draw = source.draw
    if source.card is None or source.card.kind != "torch" or draw is None or not front.network.known:
        return None
    asked = front.distinct_preferences[front.filmed]
    rows = [_strip(front.policy(weights / weights.sum()), draw(1, [0])) for weights in asked]
    with staged(folder / FILM) as temporary:
        Image.fromarray(np.concatenate(rows)).quantize(96).save(temporary)
    return folder / FILM


def _strip(policy: Policy, env: Any) -> Any:
    """Return frames of an episode side by side, without the legend on their right, ``[width, frames * width, 3]``."""
    from PIL import Image

    from morl_envs.rendering.video import record_episode

    pictures = record_episode(env, policy, every=max(1, env.horizon // 50))
    frames = [pictures[index] for index in np.linspace(0, len(pictures) - 1, STRIP_FRAMES).round().astype(int)]
    edge = min(frames[0].shape[:2])
    small = [Image.fromarray(frame).crop((0, 0, edge, edge)).resize((STRIP_WIDTH,) * 2) for frame in frames]
    return np.concatenate([np.asarray(frame) for frame in small], axis=1)


def check_video(path: str | Path) -> None:
    """Raise for a film that cannot be written, before anything is played."""
    path = Path(path)
    if path.suffix not in (".gif", ".mp4"):
        checks.fail("video", "end in .gif or .mp4", path.name)
    if path.suffix == ".mp4" and find_spec("imageio_ffmpeg") is None:
        raise ImportError("MP4 videos need the report extra: pip install 'morl-blocks[report]'.")
