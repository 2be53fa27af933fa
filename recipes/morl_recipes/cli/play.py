"""``morl-blocks play``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from morl_recipes.cli.options import Folder, Point, RunName, default, parse_preference
from morl_recipes.cli.own_blocks import OwnBlocks
from morl_recipes.common.naming import count
from morl_recipes.common.text import for_terminal, say

if TYPE_CHECKING:
    from morl_recipes.running.play import Played


@dataclass(frozen=True)
class Play(OwnBlocks):
    """Run a saved policy, print its returns and record a video.

    Examples:
      morl-blocks play runs/pasta-stealth
      morl-blocks play runs/smoke --run baselines.linear --video linear.gif
      morl-blocks play runs/smoke --preference 0.8,0.1,0.1 --episodes 100
      morl-blocks play runs/mine --blocks my_rows.py
    """

    folder: Folder
    """Results of a sweep or a training."""
    run_name: RunName = None
    point: Point = "peak"
    preference: Annotated[str | None, default("its own", "W,W,...")] = None
    """Another preference than the one it was trained for, as in 0.1,0.7,0.2."""
    episodes: int = 20
    """Number of episodes."""
    seed: int = 0
    """Seed of the first episode."""
    video: Annotated[Path | None, default("no video", "PATH")] = None
    """A .gif or .mp4 file for a video of the first episode."""

    def run(self, argv: list[str]) -> int:
        """Play and print the returns, then record the video, which may fail."""
        from morl_recipes.running.play import check_video, film_run, play

        if self.video is not None:
            check_video(self.video)
        self.load_blocks(self.folder)
        preference = None if self.preference is None else parse_preference(self.preference, "preference")
        how: dict[str, Any] = {"point": self.point, "seed": self.seed, "env": self.env}
        played = play(self.folder, run=self.run_name, preference=preference, episodes=self.episodes, **how)
        say(self._describe(played))
        if self.video is not None:
            film_run(self.folder, played, self.video, **how)
            say(f"  video: {self.video}")
        return 0

    def _describe(self, played: Played) -> str:
        lines = [f"{played.run_id} ({self.point}), preference {', '.join(f'{w:.3g}' for w in played.preference)}"]
        for name, column in zip(played.objectives, played.returns.unbind(-1), strict=True):
            mean, spread = float(column.mean()), float(column.std(correction=0))
            lines.append(f"  {for_terminal(name):<14} {mean:10.3f} ± {spread:.3f}")
        score = "" if played.hv is None else f"HV {played.hv:.4f}, "
        episodes = count(len(played.returns), "episode")
        return "\n".join([*lines, f"  {score}EU {played.eu:.3f} of the means over {episodes}"])
