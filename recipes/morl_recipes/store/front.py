"""What analysis reads of a front: returns of policies for many preferences, without the policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
class FrontReturns:
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
        seed = checks.at_least("seed", seed, 0)
        own = [index for index, other in enumerate(self.seeds) if other == seed]
        if not own:
            checks.fail("seed", f"be one of {sorted(set(self.seeds))}", seed)
        rows = np.isin(self.member, own)
        arrays = {name: getattr(self, name)[rows] for name in ("asked", "returns", "errors")}
        return replace(self, seeds=(seed,) * len(own), member=np.searchsorted(own, self.member[rows]), **arrays)

    def hypervolume(self, reference: Sequence[float], *, allow_empty: bool = False) -> float:
        """Compute the hypervolume of the points above a reference point.

        Args:
            reference: The reference point, one number per objective; a point must exceed it in every objective.
            allow_empty: Return 0 if no point does, instead of raising an error.
        """
        return metrics.front_hypervolume(self.points, reference, allow_empty=allow_empty)

    def table(self) -> pd.DataFrame:
        """Return one row per point: preference, mean returns and their standard errors."""
        names = [form.format(name) for form in ("weight of {}", "{}", "error of {}") for name in self.objectives]
        rows = np.concatenate([self.preferences, self.points, self.standard_errors], axis=1)
        return pd.DataFrame(rows, columns=names).assign(seed=[self.seeds[self.member[index]] for index in self.kept])


def read_front(folder: Path, stored: Mapping[str, Any] | None = None) -> FrontReturns:
    """Read a front without its policies, or check its fields; they may be untrusted. Damage raises ``StoreError``."""
    stored = unseal_front(checks.path("folder", folder)) if stored is None else stored
    try:
        front = FrontReturns(**{name: read(stored[name]) for name, read in _READ.items()})
        shape = (len(front.member), len(front.objectives))
        for name in ("asked", "returns", "errors"):
            if getattr(front, name).shape != shape:
                raise ValueError(f"{name} has shape {getattr(front, name).shape}, not {shape}")
        if not shape[0] or not np.isin(front.member, range(len(front.seeds))).all():
            raise ValueError("an evaluation belongs to no policy")
        if not np.isfinite(front.returns).all() or not np.isfinite(front.asked).all():
            raise ValueError("a number is not finite")
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise damaged_front(folder, error) from error
    return front


def unseal_front(folder: Path) -> dict[str, Any]:
    """Return the fields of ``front.json``."""
    return unseal(folder / NAME, schema=SCHEMA, advice=ADVICE)


def damaged_front(folder: Path, error: Exception) -> StoreError:
    """Return the error for a front whose fields cannot be read."""
    return StoreError(f"{folder / NAME}: damaged ({type(error).__name__}: {str(error)[:200]}). {ADVICE}")


def front_fields(front: FrontReturns) -> dict[str, Any]:
    """Return the fields of a front without its policies."""
    return {name: getattr(front, name) for name in _READ}


def _array(rows: list[list[float | None]]) -> Array:
    """Return numbers; null in JSON means NaN."""
    return np.array([[np.nan if value is None else value for value in row] for row in rows], dtype=np.float64)


_READ: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("env", "method"), str),
    "objectives": lambda names: tuple(map(str, names)),
    "conditioned": bool,
    "seeds": lambda seeds: tuple(map(int, seeds)),
    **dict.fromkeys(("asked", "returns", "errors"), _array),
    "member": lambda indices: np.array(indices, dtype=np.int64),
    "episodes": int,
    "gamma": float,
}
"""How each field is read from JSON."""
