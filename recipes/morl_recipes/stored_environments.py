"""The environments of a store, opened again: they must be what they were."""

from typing import Any

from morl_recipes.envs import EnvSource
from morl_recipes.errors import StoreError
from morl_recipes.pick import source_of
from morl_recipes.store import Store
from morl_recipes.store._versions import package_versions

PACKAGES = ("gymnasium", "mo-gymnasium", "mujoco")
"""Packages that hold the dynamics of environments which are not ours."""


class StoredEnvironments:
    """The environments of a store, opened by name and compared with what the sweep had."""

    def __init__(self, store: Store, env: Any, *, accept_versions: bool) -> None:
        self.store, self.env, self.accept = store, env, accept_versions
        self._found: dict[str, EnvSource] = {}

    def source(self, name: str) -> EnvSource:
        """Return where an environment of the store comes from; one that is not what it was raises."""
        if name not in self._found:
            source = source_of(self.store, name, self.env)
            info = self.store.manifest.environments[name]
            if tuple(source.objectives) != tuple(info.objectives):
                raise StoreError(
                    f"{self.store.path}: {name} had the objectives {', '.join(info.objectives)}, here it has "
                    f"{', '.join(source.objectives)}. Use the version that trained it; nothing was changed."
                )
            if not self.accept and not (source.card is not None and source.card.world):
                self._require_versions(name)
            self._found[name] = source
        return self._found[name]

    def _require_versions(self, name: str) -> None:
        """Compare the packages that hold the dynamics."""
        then, now = self.store.manifest.versions, package_versions()
        changed = [p for p in PACKAGES if p in then and p in now and then[p] != now[p]]
        if changed:
            words = ", ".join(f"{package} {then[package]} (here {now[package]})" for package in changed)
            raise StoreError(
                f"{self.store.path}: {name} was trained with {words}. Install those, or accept others "
                "(--accept-versions); nothing was changed."
            )
