"""The record of a front: returns of policies for many preferences, without the policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from morl_blocks import metrics
from morl_recipes.common import checks
from morl_recipes.common.errors import StoreError
from morl_recipes.store.files import unseal

if TYPE_CHECKING:
    from typing_extensions import Self

SCHEMA, NAME = 1, "front.json"
FILM = "film.png"
"""Picture that the pages of a front show: a row of frames per filmed preference."""
ADVICE = "Train the front again, or restore the file."
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class FrontRecord:
    """Returns of each policy of a front for each preference; n evaluations of m objectives.

    Attributes:
        env: Name of the environment.
        objectives: Names of the objectives.
        method: Name of the recipe.
        conditioned: One policy per seed for all preferences, instead of one policy per preference.
        seeds: Seed of each policy.
        asked: Preference of every evaluation, ``[n, m]``.
        returns: Mean return of every evaluation, ``[n, m]``.
        errors: Standard errors of these means, ``[n, m]``; NaN after a single episode.
        member: Index of the policy that was played, ``[n]``.
        episodes: Episodes per evaluation.
        gamma: Discount of the returns.
    """

    env: str
    objectives: tuple[str, ...]
    method: str
    conditioned: bool
    seeds: tuple[int, ...]
    asked: Array
    returns: Array
    errors: Array
    member: NDArray[np.int64]
    episodes: int
    gamma: float = 1.0

    @property
    def kind(self) -> str:
        """Description of the training."""
        return "one policy for all preferences" if self.conditioned else "one policy per preference"

    @cached_property
    def kept(self) -> NDArray[np.int64]:
        """Index of the evaluation of each point, in order of the first objective; of equal ones the middle one."""
        best = np.flatnonzero(metrics.nondominated(self.returns))
        _, group = np.unique(self.returns[best], axis=0, return_inverse=True)
        groups = [best[group.ravel() == number] for number in range(group.max() + 1)]
        return np.array([own[(len(own) - 1) // 2] for own in groups])

    @property
    def points(self) -> Array:
        """The different returns that no other dominates, ``[k, m]``, in ascending order of the first objective."""
        return self.returns[self.kept]

    @property
    def standard_errors(self) -> Array:
        """Standard error of each point, ``[k, m]``."""
        return self.errors[self.kept]

    @property
    def preferences(self) -> Array:
        """The preference for which each point was reached, ``[k, m]``."""
        return self.asked[self.kept]

    @property
    def distinct_preferences(self) -> Array:
        """The evaluated preferences, ``[K, m]``; those that favour the first objective come last."""
        return np.unique(np.round(self.asked, 9), axis=0)

    @property
    def filmed(self) -> list[int]:
        """Rows of :attr:`distinct_preferences` in a film: at most five, evenly spaced."""
        last = len(self.distinct_preferences) - 1
        return [*dict.fromkeys(np.linspace(0, last, 5).round().astype(int).tolist())]

    def of(self, seed: int) -> Self:
        """Return the front of one seed."""
        own = self._policies_of(seed)
        rows = np.isin(self.member, own)
        arrays = {name: getattr(self, name)[rows] for name in ("asked", "returns", "errors")}
        return replace(self, seeds=(seed,) * len(own), member=np.searchsorted(own, self.member[rows]), **arrays)

    def _policies_of(self, seed: int) -> list[int]:
        if seed not in self.seeds:
            checks.fail("seed", f"be one of {sorted(set(self.seeds))}", seed)
        return [index for index, other in enumerate(self.seeds) if other == seed]

    def hypervolume(self, reference: Sequence[float], *, allow_empty: bool = False) -> float:
        """Compute the hypervolume of the points above a reference point.

        Args:
            reference: The reference point, one number per objective; a point must exceed it in every objective.
            allow_empty: Return 0 if no point does, instead of raising an error.
        """
        return metrics.front_hypervolume(self.points, reference, allow_empty=allow_empty)

    def table(self) -> pd.DataFrame:
        """Return one row per point: preference, mean returns and their standard errors."""
        names = [*(f"weight of {name}" for name in self.objectives), *self.objectives]
        names += [f"error of {name}" for name in self.objectives]
        rows = np.concatenate([self.preferences, self.points, self.standard_errors], axis=1)
        return pd.DataFrame(rows, columns=names).assign(seed=[self.seeds[self.member[index]] for index in self.kept])


def read_front(folder: Path) -> FrontRecord:
    """Read the record of a front without its policies."""
    return record_of(unseal_front(folder), folder)


def unseal_front(folder: Path) -> dict[str, Any]:
    """Return the fields of ``front.json``."""
    return unseal(folder / NAME, schema=SCHEMA, advice=ADVICE)


def record_of(stored: Mapping[str, Any], folder: Path) -> FrontRecord:
    """Return the record for the given fields; every number is checked, because the file may be untrusted."""
    try:
        record = FrontRecord(
            env=str(stored["env"]),
            objectives=tuple(map(str, stored["objectives"])),
            method=str(stored["method"]),
            conditioned=bool(stored["conditioned"]),
            seeds=tuple(map(int, stored["seeds"])),
            asked=_array(stored["asked"]),
            returns=_array(stored["returns"]),
            errors=_array(stored["errors"]),
            member=np.array(stored["member"], dtype=np.int64),
            episodes=int(stored["episodes"]),
            gamma=float(stored["gamma"]),
        )
        _check(record)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise damaged_front(folder, error) from error
    return record


def damaged_front(folder: Path, error: Exception) -> StoreError:
    """Return the error for a front whose fields cannot be read."""
    return StoreError(f"{folder / NAME}: damaged ({type(error).__name__}: {str(error)[:200]}). {ADVICE}")


def record_fields(record: FrontRecord) -> dict[str, Any]:
    """Return the record's own fields, without those of a subclass."""
    return {own.name: getattr(record, own.name) for own in fields(FrontRecord)}


def _array(rows: list[list[float | None]]) -> Array:
    """Return numbers; null in JSON means NaN."""
    return np.array([[np.nan if value is None else value for value in row] for row in rows], dtype=np.float64)


def _check(record: FrontRecord) -> None:
    """Require consistent shapes."""
    shape = (len(record.member), len(record.objectives))
    for name in ("asked", "returns", "errors"):
        if getattr(record, name).shape != shape:
            raise ValueError(f"{name} has shape {getattr(record, name).shape}, not {shape}")
    if not shape[0] or not np.isin(record.member, range(len(record.seeds))).all():
        raise ValueError("an evaluation belongs to no policy")
    if not np.isfinite(record.returns).all() or not np.isfinite(record.asked).all():
        raise ValueError("a number is not finite")
