"""A front as a film strip: one row of frames per preference, which the page of the front shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from morl_envs.rendering.video import record_episode
from morl_envs.source import EnvSource
from morl_recipes.common.atomic_files import staged
from morl_recipes.running.fronts.front import Front, FrontPolicy
from morl_recipes.store.front import FILM

FRAMES, WIDTH = 7, 170


def film_front(front: Front, folder: Path, source: EnvSource) -> Path | None:
    """Write ``film.png``: a row of frames per preference, from the first to the last step of one episode.

    Returns:
        The path; ``None`` if it cannot be filmed: only the torch environments (stealth, frogger, formation) can.
    """
    draw = source.draw
    if source.card is None or source.card.kind != "torch" or draw is None or not front.network.known:
        return None
    asked = front.distinct_preferences[front.filmed]
    rows = [_frames(front.policy(weights / weights.sum()), draw(1, [0])) for weights in asked]
    with staged(folder / FILM) as temporary:
        Image.fromarray(np.concatenate(rows)).quantize(96).save(temporary)
    return folder / FILM


def _frames(policy: FrontPolicy, env: Any) -> Any:
    """Return frames of an episode side by side, without the legend on their right, ``[WIDTH, FRAMES * WIDTH, 3]``."""
    pictures = record_episode(env, policy, every=max(1, env.horizon // 50))
    frames = [pictures[index] for index in np.linspace(0, len(pictures) - 1, FRAMES).round().astype(int)]
    edge = min(frames[0].shape[:2])
    small = [Image.fromarray(frame).crop((0, 0, edge, edge)).resize((WIDTH, WIDTH)) for frame in frames]
    return np.concatenate([np.asarray(frame) for frame in small], axis=1)
