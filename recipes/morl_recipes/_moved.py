"""Modules of version 0.2 under their new names: importing the old name gives a ``DeprecationWarning``."""

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "checkpoint": "store.checkpoint",
    "dataset": "analysis.datasets",
    "differences": "analysis.differences",
    "env_files": "morl_envs.user_files",
    "environments": "morl_envs",
    "environments.source": "morl_envs.source",
    "environments.toy": "morl_envs.toy",
    "environments.user_files": "morl_envs.user_files",
    "envs": "morl_envs.source",
    "errors": "common.errors",
    "exact_distance": "evaluation.exact_distance",
    "export": "running.export",
    "fronts": "running.fronts",
    "history": "store.history",
    "loggers": "running.loggers",
    "naming": "common.naming",
    "panels": "analysis.results",
    "paper": "recipe.paper",
    "pick": "running.stored_runs",
    "plain": "common.text",
    "play": "running.play",
    "plugins": "recipe.selection",
    "policy_network": "recipe.policy_network",
    "ppo": "recipe.ppo",
    "protocols": "recipe.protocols",
    "recipe_fields": "recipe.fields",
    "report": "analysis.report",
    "result": "running.result",
    "returns": "evaluation.episodes",
    "rows": "recipe.rows",
    "saved_policy": "evaluation.saved_policy",
    "scores": "common.scores",
    "selection": "recipe.selection",
    "session": "running.recorder",
    "settings": "recipe.settings",
    "slots": "recipe.spec",
    "spec": "recipe.spec",
    "specs": "recipe.specs",
    "stored": "running.train",
    "streams": "learning.streams",
    "sweep": "running",
    "table": "analysis.tables",
    "testing": "running.test_scores",
    "toml": "common.toml",
    "toy": "morl_envs.toy",
    "trainer": "running.train",
    "twins": "recipe.fields",
    "watching": "running.progress",
}
"""Old name below ``morl_recipes`` to new name, below it or in ``morl_envs``."""

PACKAGE = "morl_recipes."


def new_name(new: str) -> str:
    """Return the full new name of a module."""
    return new if new.partition(".")[0] == "morl_envs" else PACKAGE + new


class _MovedModule(Loader):
    """Load the module under its new name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        message = f"`{spec.name}` has moved: import `{self._name}` instead."
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        module = importlib.import_module(self._name)
        self._spec = module.__spec__  # the import system is about to replace it
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Execute nothing, because the module was executed under its new name."""
        module.__spec__ = self._spec


class _Finder(MetaPathFinder):
    """Find the old names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec that loads an old name, or ``None`` for all other names."""
        new = MOVED.get(fullname.removeprefix(PACKAGE)) if fullname.startswith(PACKAGE) else None
        return None if new is None else ModuleSpec(fullname, _MovedModule(new_name(new)))


def answer_old_names() -> None:
    """Let imports find moved modules under their old names."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())  # before the finder of files: what is below a moved package has moved too
