"""Results of a store or dataset as arrays: a study per environment and group, with statistics and what is missing."""

from morl_recipes.analysis.results.load import Results, load_results
from morl_recipes.analysis.results.statistics import (
    MethodStatistics,
    PreferenceStatistics,
    detectable,
    identical_methods,
    preference_statistics,
    study_statistics,
)
from morl_recipes.analysis.results.study import READINGS, Reading, Study

__all__ = [
    "READINGS",
    "MethodStatistics",
    "PreferenceStatistics",
    "Reading",
    "Results",
    "Study",
    "detectable",
    "identical_methods",
    "load_results",
    "preference_statistics",
    "study_statistics",
]
