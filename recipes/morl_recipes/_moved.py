"""Modules of version 0.2 under their new names: importing the old name gives a ``DeprecationWarning``."""

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

PACKAGE = "morl_recipes."
_SAME_NAME = {
    "analysis": "differences report",
    "common": "errors scores",
    "evaluation": "exact_distance saved_policy",
    "recipe": "paper policy_network ppo protocols rows selection settings spec specs",
    "running": "export fronts loggers play result",
    "store": "checkpoint history",
}
MOVED = {old: f"{PACKAGE}{folder}.{old}" for folder, names in _SAME_NAME.items() for old in names.split()} | {
    "dataset": "morl_recipes.analysis.datasets",
    "envs": "morl_envs.source",
    "panels": "morl_recipes.analysis.results",
    "plugins": "morl_recipes.recipe.selection",
    "returns": "morl_recipes.evaluation.episodes",
    "slots": "morl_recipes.recipe.spec",
    "sweep": "morl_recipes.running",
    "table": "morl_recipes.analysis.tables",
    "testing": "morl_recipes.running.test_scores",
    "toy": "morl_envs.toy",
    "trainer": "morl_recipes.running.train",
}
"""Old name below ``morl_recipes`` to the full new name."""


class _Moved(MetaPathFinder, Loader):
    """Find the old names, and load the modules under their new names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec that loads an old name, or ``None`` for all other names."""
        moved = fullname.startswith(PACKAGE) and fullname.removeprefix(PACKAGE) in MOVED
        return ModuleSpec(fullname, self) if moved else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Import the module under its new name, with a warning."""
        new = MOVED[spec.name.removeprefix(PACKAGE)]
        warnings.warn(f"`{spec.name}` has moved: import `{new}` instead.", DeprecationWarning, stacklevel=2)
        module = importlib.import_module(new)
        spec.loader_state = module.__spec__  # the import system is about to replace it
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Execute nothing, because the module was executed under its new name."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def answer_old_names() -> None:
    """Let imports find moved modules under their old names."""
    if not any(isinstance(finder, _Moved) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Moved())  # before the finder of files: what is below a moved package has moved too
