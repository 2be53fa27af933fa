"""A study: the runs of one group of recipes on one environment, as arrays with gaps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from morl_recipes.common import scores
from morl_recipes.recipe.paper import REFERENCE
from morl_recipes.store.manifest import EnvInfo

Array: TypeAlias = NDArray[np.float64]
Reading: TypeAlias = Literal["peak", "test", "final", "test_final"]
"""The score of a run: its best validation (as in the paper), that policy on fresh episodes, its last validation, or its
last policy on fresh episodes."""
READINGS: dict[Reading, str] = {"peak": "peak", "test": "test_peak", "final": "final", "test_final": "test_final"}
"""Prefix of each score's columns in the frame of :func:`morl_recipes.store.load_runs`."""
TESTED = ("test", "test_final")
"""The readings of fresh episodes."""


@dataclass(frozen=True)
class Study:
    """The runs of one group of recipes on one environment, including PASTA.

    Attributes:
        info: Objectives and bounds of the environment.
        methods: Names in the order of the paper, then of the plan.
        preferences: Preferences in the order of the plan.
        seeds: All seeds, sorted.
        run_ids: Id of the run in each cell, ``""`` for none, ``[methods, preferences, seeds]``.
        reading: The score of each run that is used.
        reference: The method that the others are compared with.
        returns: Mean returns for this score, NaN for no usable run, ``[methods, preferences, seeds, m]``.
        hv: Hypervolume of each run, NaN for no usable run or no bounds, ``[methods, preferences, seeds]``.
        every: Hypervolume of each run by every score, likewise.
        why: Reason why this score is used instead of the test score, as a sentence; empty otherwise.
        gaps: Runs that are missing or left out, as sentences.
    """

    env: str
    group: str
    info: EnvInfo
    methods: tuple[str, ...]
    preferences: tuple[tuple[float, ...], ...]
    seeds: tuple[int, ...]
    run_ids: NDArray[np.str_] = field(repr=False)
    returns: Array = field(repr=False)
    hv: Array = field(repr=False)
    gaps: tuple[str, ...] = ()
    reading: Reading = "peak"
    reference: str = REFERENCE
    every: Mapping[Reading, Array] = field(default_factory=dict, repr=False)
    why: str = ""

    @property
    def bias(self) -> tuple[float, float, int]:
        """Return the selection bias: mean of peak minus test, mean of test, and the number of runs that have both."""
        none = np.full(self.hv.shape, np.nan)
        peak, test = self.every.get("peak", none), self.every.get("test", none)
        both = np.isfinite(peak) & np.isfinite(test)
        if not both.any():
            return np.nan, np.nan, 0
        return float((peak - test)[both].mean()), float(test[both].mean()), int(both.sum())

    @property
    def beside(self) -> Reading:
        """Return the second score of the tables: the peak (as in the paper) for the test score, else the test score."""
        return "peak" if self.reading == "test" else "test"

    @property
    def short_reference(self) -> str:
        """Return the name of the reference for a heading."""
        return "PASTA" if self.reference == REFERENCE else self.reference

    @property
    def key(self) -> str:
        """Return a short unique name that is safe in file names and HTML ids."""
        return "-".join("".join(c if c.isalnum() else "_" for c in word) for word in (self.env, self.group))

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Return the mask of the cells that hold a run with finite returns, ``[methods, preferences, seeds]``."""
        return np.asarray(np.isfinite(self.returns).all(-1))

    @property
    def active(self) -> NDArray[np.bool_]:
        """Return the mask of the methods with a usable run, ``[methods]``."""
        return np.asarray(self.usable.any((1, 2)))

    @property
    def common(self) -> NDArray[np.bool_]:
        """Return the mask of the (preference, seed) cells that every active method has, ``[preferences, seeds]``."""
        return np.asarray(self.usable[self.active].all(0) & self.active.any())

    def renamed(self, write: Callable[[str], str]) -> "Study":
        """Return the study with every name transformed, for example escaped for a figure."""
        methods, objectives = (tuple(map(write, names)) for names in (self.methods, self.info.objectives))
        info = replace(self.info, objectives=objectives)
        return replace(self, env=write(self.env), group=write(self.group), methods=methods, info=info)

    def score(self, score: scores.Score) -> Array:
        """Score every run, NaN where there is no run or no bounds, ``[methods, preferences, seeds]``."""
        return scores.judge(score, self.returns, np.array(self.preferences)[:, None, :], self.info.bounds)

    def runs(self, method: int) -> tuple[int, int]:
        """Return the number of usable and of planned runs of a method."""
        return int(self.usable[method].sum()), int((self.run_ids[method] != "").sum())

    def laid_out(
        self, method: int, score: scores.Score, preferences: Sequence[tuple[float, ...]], seeds: Sequence[int]
    ) -> Array:
        """Return the scores of a method on preferences and seeds (all of its own), NaN for no run, ``[P, S]``."""
        values, found = self.score(score)[method], np.full((len(preferences), len(seeds)), np.nan)
        columns = [seeds.index(seed) for seed in self.seeds]
        for p, weights in enumerate(preferences):
            if weights in self.preferences:
                found[p, columns] = values[self.preferences.index(weights)]
        return found

    def histories(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the histories of usable runs with two more columns, ``method_index`` and ``preference_index``."""
        cells = [(self.run_ids[cell], cell[0], cell[1]) for cell in zip(*np.nonzero(self.usable), strict=True)]
        owners = pd.DataFrame(cells, columns=["run_id", "method_index", "preference_index"])
        return owners.merge(frame, on="run_id", how="inner")
