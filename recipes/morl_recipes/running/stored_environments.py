"""The environments of a store, opened again: they must be what they were."""

from collections.abc import Mapping
from typing import Any

from morl_recipes.common.errors import StoreError
from morl_recipes.environments.source import EnvSource
from morl_recipes.running.find_run import source_of
from morl_recipes.store.store import Store
from morl_recipes.store.versions import dynamics_of, other_versions


class StoredEnvironments:
    """The environments of a store, opened by name and compared with what the sweep had."""

    def __init__(self, store: Store, env: Any) -> None:
        self.store, self.env = store, env
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
            self._found[name] = source
        return self._found[name]


def require_dynamics(store: Store, fields: Mapping[str, Any]) -> None:
    """Require that a run was trained with the packages here that hold its dynamics; an old one as its sweep began."""
    then = {**store.manifest.versions, **fields.get("versions", {})}
    other = other_versions(then, packages=dynamics_of(fields["env"]))
    if other:
        raise StoreError(
            f"{store.path}: run {fields['run_id']} was trained with other versions ({other}). Install those, or accept "
            "others (--accept-versions)."
        )
