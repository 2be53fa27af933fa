"""``morl-blocks play`` and ``morl-blocks export``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from morl_recipes.cli.own_code import OwnCode
from morl_recipes.cli.words import Folder, parse_preference
from morl_recipes.common.naming import count

if TYPE_CHECKING:
    from morl_recipes.running.play import Played


@dataclass(frozen=True)
class Play(OwnCode):
    """Run a saved policy, print its returns, and film it.

    Examples:
      morl-blocks play runs/pasta-stealth
      morl-blocks play runs/smoke --run baselines.linear --video linear.gif
      morl-blocks play runs/smoke --preference 0.8,0.1,0.1 --episodes 100
      morl-blocks play runs/mine --blocks my_rows.py
    """

    folder: Folder
    """Results of a sweep or a training."""
    run_name: Annotated[
        str | None, tyro.conf.arg(name="run", metavar="NAME", help_behavior_hint="(default: the best)")
    ] = None
    """A method (pasta), a run, or a part of its name; of several runs of a method, the best."""
    point: Literal["peak", "final"] = "peak"
    """The policy at the best validation, or the last."""
    preference: Annotated[str | None, tyro.conf.arg(metavar="W,W,...", help_behavior_hint="(default: its own)")] = None
    """Another preference than the one it was trained for, as in 0.1,0.7,0.2."""
    episodes: int = 20
    """Number of episodes."""
    seed: int = 0
    """Seed of the first episode."""
    video: Annotated[Path | None, tyro.conf.arg(metavar="PATH", help_behavior_hint="(default: no film)")] = None
    """A .gif or .mp4 file for a film of the first episode."""

    def run(self, argv: list[str]) -> int:
        """Play and print, then film: whatever becomes of the film, the returns are there."""
        from morl_recipes.running.play import check_video, film_run, play

        if self.video is not None:
            check_video(self.video)
        self.load_blocks(self.folder)
        preference = None if self.preference is None else parse_preference(self.preference, "preference")
        played = play(
            self.folder,
            run=self.run_name,
            point=self.point,
            preference=preference,
            episodes=self.episodes,
            seed=self.seed,
            env=self.env,
        )
        print(self._describe(played), flush=True)
        if self.video is not None:
            film_run(self.folder, played, self.video, point=self.point, seed=self.seed, env=self.env)
            print(f"  video: {self.video}")
        return 0

    def _describe(self, played: Played) -> str:
        lines = [f"{played.run_id} ({self.point}), preference {', '.join(f'{w:.3g}' for w in played.preference)}"]
        for name, column in zip(played.objectives, played.returns.unbind(-1), strict=True):
            lines.append(f"  {name:<14} {float(column.mean()):10.3f} ± {float(column.std(correction=0)):.3f}")
        score = "" if played.hv is None else f"HV {played.hv:.4f}, "
        episodes = count(len(played.returns), "episode")
        return "\n".join([*lines, f"  {score}EU {played.eu:.3f} of the means over {episodes}"])


@dataclass(frozen=True)
class Export(OwnCode):
    """Export a saved policy to ONNX, checked against PyTorch on 1,000 observations.

    Examples:
      morl-blocks export runs/pasta-stealth --out policy.onnx
      morl-blocks export runs/smoke --run baselines.linear --out linear.onnx
    """

    folder: Folder
    """Results of a sweep or a training."""
    run_name: Annotated[
        str | None, tyro.conf.arg(name="run", metavar="NAME", help_behavior_hint="(default: the best)")
    ] = None
    """A method (pasta), a run, or a part of its name; of several runs of a method, the best."""
    point: Literal["peak", "final"] = "peak"
    """The policy at the best validation, or the last."""
    out: Path = Path("policy.onnx")
    """The file."""
    tolerance: float = 1e-5
    """Largest difference of an action to accept."""

    def run(self, argv: list[str]) -> int:
        """Export and say how far it is from PyTorch."""
        from morl_recipes.running.export import export_policy

        self.load_blocks(self.folder)
        chosen = {"run": self.run_name, "point": self.point, "env": self.env}
        made = export_policy(self.folder, self.out, tolerance=self.tolerance, **chosen)  # type: ignore[arg-type]
        print(f"{made.path}: {made.run_id} ({self.point})")
        print(f"  agrees with PyTorch to {made.difference:.1e} on {made.observations} observations")
        return 0
