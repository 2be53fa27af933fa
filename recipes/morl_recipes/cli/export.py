"""``morl-blocks export``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from morl_recipes.cli.options import Folder, Point, RunName, default
from morl_recipes.cli.own_blocks import OwnBlocks
from morl_recipes.common.text import say


@dataclass(frozen=True)
class Export(OwnBlocks):
    """Export a saved policy to ONNX, checked against PyTorch on 1,000 observations, or as a folder for a model hub.

    Examples:
      morl-blocks export runs/pasta-stealth --out policy.onnx
      morl-blocks export runs/smoke --run baselines.linear --out linear.onnx
      morl-blocks export runs/pasta-stealth --hub pasta-stealth-policy
    """

    folder: Folder
    """Results of a sweep or a training."""
    run_name: RunName = None
    point: Point = "peak"
    out: Path = Path("policy.onnx")
    """The ONNX file."""
    hub: Annotated[Path | None, default("none: a file", "PATH")] = None
    """Make this folder instead, in the layout of a model hub: safetensors, configuration, model card."""
    tolerance: float = 1e-5
    """Largest accepted difference of an action."""

    def run(self, argv: list[str]) -> int:
        """Export, and print the largest difference to PyTorch."""
        from morl_recipes.running.export import export_policy
        from morl_recipes.running.hub import export_hub

        self.load_blocks(self.folder)
        chosen = {"run": self.run_name, "point": self.point, "env": self.env}
        if self.hub is not None:
            say(f"{self.hub}: {export_hub(self.folder, self.hub, **chosen)} ({self.point})")  # type: ignore[arg-type]
            return 0
        made = export_policy(self.folder, self.out, tolerance=self.tolerance, **chosen)  # type: ignore[arg-type]
        say(f"{made.path}: {made.run_id} ({self.point})")
        say(f"  agrees with PyTorch to {made.difference:.1e} on {made.observations} observations")
        return 0
