"""Which run it is: what its plan, its record and its files agree on."""

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Identity:
    """What tells one run from all others of a store.

    Attributes:
        run_id: Name of the run's folder; see :func:`~morl_recipes.store.make_run_id`.
        group: Group of recipes, as in ``ROWS``.
        method: Name of the recipe within its group.
        env: Name of the environment, a key of the manifest's ``environments``.
        preference: Weights on the simplex.
        seed: Seed of the run.
    """

    run_id: str
    group: str
    method: str
    env: str
    preference: tuple[float, ...]
    seed: int

    @property
    def identity(self) -> tuple[str, str, str, str, tuple[float, ...], int]:
        """Return the fields in their order."""
        return self.run_id, self.group, self.method, self.env, self.preference, self.seed


IDENTITY = tuple(field.name for field in fields(Identity))
