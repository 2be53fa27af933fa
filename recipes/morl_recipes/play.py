"""Play a saved policy: its returns over many episodes, and a video of one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from morl_blocks.metrics import expected_utility, run_hypervolume
from morl_envs import make_batch
from morl_envs.cards import EnvCard
from morl_envs.factory import find_card
from morl_envs.heuristics.play import mean_returns
from morl_recipes import _checks
from morl_recipes.saved_policy import Point, PolicyFunction, acting, find_run, load_policy
from morl_recipes.store import Store

FRAMES = 200
"""A video has about as many pictures as this, whatever the length of the episode."""


@dataclass(frozen=True)
class Played:
    """How a policy did.

    Attributes:
        run_id: The run.
        preference: The preference that it was given.
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
) -> Played:
    """Run a saved policy.

    Args:
        folder: A result store.
        run: A run id or a part of one; by default the best.
        point: The policy of the best validation, or the last.
        preference: Another preference than the one it was trained for: the policy sees it as an input.
        episodes: Number of episodes.
        seed: Seed of the first episode; episode k has seed + k.
        video: A ``.gif`` or ``.mp4`` file for a film of the first episode.

    Returns:
        The returns and scores.
    """
    _checks.at_least("episodes", episodes, 1)
    store = Store.open(folder)
    row = find_run(store, run)
    card = find_card(row["env"])
    weights = tuple(row["preference"]) if preference is None else _checks.preference(preference, len(card.objectives))
    env = make_batch(card, episodes, seed)
    policy = acting(load_policy(store, row, point, env.action_low, env.action_high), weights)
    returns, _ = mean_returns(env, policy)
    mean, info = returns.mean(0).double().numpy(), store.manifest.environments[card.name]
    hv = None
    if info.bounds_problem is None and info.low is not None and info.high is not None:
        hv = float(run_hypervolume(mean, info.low, info.high))
    if video is not None:
        film(card, policy, Path(video), seed)
    return Played(row["run_id"], weights, card.objectives, returns, hv, float(expected_utility(mean, weights)))


def film(card: EnvCard, policy: PolicyFunction, path: Path, seed: int) -> None:
    """Write a video of one episode."""
    from morl_envs.rendering.video import record_episode, save_video

    if path.suffix not in (".gif", ".mp4"):
        _checks.fail("video", "end in .gif or .mp4", path.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    every = max(1, card.horizon // FRAMES)
    if card.kind == "torch":
        env: Any = make_batch(card, 1, seed)
        save_video(record_episode(env, policy, every=every), path)
        return
    env = make_batch(card, 1, seed, render_mode="rgb_array")
    save_video(_gymnasium_pictures(env, policy, every), path)


@torch.no_grad()
def _gymnasium_pictures(env: Any, policy: PolicyFunction, every: int) -> list[Any]:
    """Film an environment that draws itself."""
    observation, pictures, done, step = env.reset_tensors(), [], False, 0
    while not done:
        if step % every == 0:
            pictures.append(env.envs[0].render())
        observation, _, terminated, truncated = env.step_tensors(policy(observation))
        done, step = bool((terminated | truncated).item()), step + 1
    return [*pictures, env.envs[0].render()]
