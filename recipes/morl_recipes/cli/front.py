"""``morl-blocks front``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from morl_recipes.cli.options import TRAIN, FrontFlags, default, default_folder, given, parse_preference
from morl_recipes.cli.signals import forward_sigterm
from morl_recipes.cli.training import Training, seeds_key
from morl_recipes.common import checks
from morl_recipes.common.text import csv_text, say

if TYPE_CHECKING:
    from morl_envs.plugin import Plugin
    from morl_recipes.recipe.protocols import Task
    from morl_recipes.recipe.recipe import Recipe
    from morl_recipes.running.fronts.front import Front as TrainedFront

PICTURE, TABLE, PAGE = "front.png", "front.csv", "front.html"


@dataclass(frozen=True)
class Front(Training):
    """Train a front: many trade-offs from one training, as points, policies, a table and a picture.

    By default one policy learns all preferences; with --decomposed every preference has its own policy. Stop it with
    Ctrl-C and start the same command again: it continues.

    Examples:
      morl-blocks front --env deep-sea-treasure-v0
      morl-blocks front --env mo-hopper-2obj-v5 --recipe "Exact PCGrad" --preferences 40 --reference -100,-100
      morl-blocks front --env deep-sea-treasure-v0 --decomposed --preferences 11 --seeds 0 1 2
      morl-blocks front --protocol B --env mo-hopper-2d-v4
    """

    env: str = "deep-sea-treasure-v0"
    """An environment of `morl-blocks list`, a Gymnasium id with a vector reward, or my_env.py:make_env."""
    protocol: Annotated[str | None, default("none", "NAME")] = None
    """Train and evaluate under a protocol of the literature (B, exact), and print published values beside ours. It sets
    steps, preferences, discount, reference point and episodes."""
    recipe: Annotated[str | None, default("linear, for fronts", "ROW")] = None
    """A row of `morl-blocks list`, or of your own file, as in my_rows.py:MyRow. PASTA follows no preference."""
    preferences: int = 40
    """Number of preferences, spread evenly over the simplex."""
    decomposed: bool = False
    """Train one policy per preference instead of one for all."""
    warm_start: float = 0.0
    """With --decomposed: share of the steps for which a quarter is trained first, as a start for the others."""
    gamma: float = 1.0
    """Discount of the returns that the front shows."""
    reference: Annotated[str | None, default("no hypervolume", "X,X,...")] = None
    """Reference point of the hypervolume, as in 0,-50"""
    settings: Annotated[FrontFlags, tyro.conf.OmitArgPrefixes] = field(default_factory=FrontFlags)
    out: Annotated[Path | None, default("runs/front-<row>-<env>", "PATH")] = None
    """Folder of the front."""

    def run(self, argv: list[str]) -> int:
        """Train, evaluate, write and print."""
        from morl_recipes.running.fronts import protocol
        from morl_recipes.running.fronts.train import train_front

        task, reference = self._task(), self._reference()
        out = self.out or default_folder(self.recipe or "linear", self.env, "front-")
        recipe, plugin = self._recipe()
        how: dict[str, Any] = {"preferences": self.preferences, "gamma": self.gamma, "total_steps": TRAIN.total_steps}
        if task is not None:  # a task without a length keeps the command's
            found = protocol.protocol_settings(task, recipe, TRAIN.change(test_episodes=0))
            how = {name: found[name] for name in ("preferences", "gamma")}
            how |= {name: getattr(found["settings"], name) for name in ("total_steps", "eval_every", "eval_episodes")}
        how |= given(self.settings)
        seeds = seeds_key(self.seeds, self.num_seeds).get("seeds", 1)
        with forward_sigterm():
            front = train_front(
                recipe,
                self.env,
                seeds=range(seeds) if isinstance(seeds, int) else seeds,
                conditioned=not self.decomposed,
                warm_start=self.warm_start,
                out=out,
                resume=True,
                retry_failed=self.retry_failed,
                accept_versions=self.accept_versions,
                progress=not self.quiet,
                plugin=plugin,
                **how,
            )
        paged = write(front, out, self.env)
        say(front)
        if reference is not None:
            for seed in sorted(set(front.seeds)):
                volume = front.of(seed).hypervolume(reference, allow_empty=True)
                why = "" if volume else " (no point exceeds the reference in every objective)"
                say(f"Hypervolume above {self.reference}, seed {seed}: {volume:.6g}{why}")
        if task is not None:
            scored = protocol.front_scores(front, task)
            say(protocol.as_text(protocol.beside_published(scored, task, front.method, how["total_steps"])))
        page = f"   Page: {out / PAGE}" if paged else ""
        say(f"Front: {out}   Picture: {out / PICTURE}   Table: {out / TABLE}{page}")
        return 0

    def _reference(self) -> tuple[float, ...] | None:
        """Return the reference point; it is checked before anything is trained."""
        from morl_envs.source import find_source

        if self.reference is None:
            return None
        numbers = parse_preference(self.reference, "reference")
        objectives = find_source(self.env).complete().objectives
        if len(numbers) != len(objectives) or not all(map(math.isfinite, numbers)):
            checks.fail("reference", f"hold {len(objectives)} finite numbers ({', '.join(objectives)})", self.reference)
        return numbers

    def _recipe(self) -> tuple[Recipe, Plugin | None]:
        """Return the named row, or the recipe for fronts, with the requested changes, and its file."""
        from morl_recipes.recipe.fields import change_recipe, parse_changes
        from morl_recipes.recipe.selection import select_rows
        from morl_recipes.running.fronts.recipe import front_recipe

        if self.recipe is None:
            return change_recipe(front_recipe(self.env), parse_changes(self.changes)), None
        rows = select_rows([self.recipe])
        if len(rows) != 1:
            raise ValueError(f"`recipe` must name one row, got {self.recipe!r}, which is {len(rows)} rows.")
        return change_recipe(rows[0].recipe, parse_changes(self.changes)), rows[0].plugin

    def _task(self) -> Task | None:
        """Return the task of the protocol; it is checked before anything is trained."""
        from morl_recipes.running.fronts.protocol import protocol_task

        if self.protocol is None:
            return None
        task = protocol_task(self.protocol, self.env)
        for name in ("preferences", "gamma", "reference"):
            if getattr(self, name) != getattr(Front, name):
                checks.fail(name, f"be left to protocol {self.protocol}", getattr(self, name))
        return task


def write(front: TrainedFront, folder: Path, env: str) -> bool:
    """Write table, picture and page of a front, with the exact front if it is known; no page without plotly."""
    from morl_envs.source import find_source
    from morl_recipes.analysis.fronts.page import write_front_page
    from morl_recipes.analysis.fronts.picture import draw_front
    from morl_recipes.analysis.fronts.summary import known_front
    from morl_recipes.common.atomic_files import staged
    from morl_recipes.running.play import film_front

    known = known_front(front)
    with staged(folder / TABLE) as temporary:
        temporary.write_text(csv_text(front.table().to_dict("records")), encoding="utf-8")
    draw_front(front, folder / PICTURE, known)
    if find_spec("plotly") is None:
        return False
    write_front_page(front, folder / PAGE, known, film_front(front, folder, find_source(env)))
    return True
