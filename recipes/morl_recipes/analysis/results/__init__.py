"""What a store says: comparable runs per environment and group, their statistics, and what is missing."""

from morl_recipes.analysis.results.alike import alike
from morl_recipes.analysis.results.load import Results, load_results
from morl_recipes.analysis.results.preference import PreferenceStatistics, preference_statistics
from morl_recipes.analysis.results.statistics import MethodStatistics, detectable, study_statistics
from morl_recipes.analysis.results.study import READINGS, Reading, Study

__all__ = [
    "READINGS",
    "MethodStatistics",
    "PreferenceStatistics",
    "Reading",
    "Results",
    "Study",
    "alike",
    "detectable",
    "load_results",
    "preference_statistics",
    "study_statistics",
]
