"""What a store says: comparable runs per environment and group, their statistics, and what is missing."""

from morl_recipes.analysis.groups.alike import alike
from morl_recipes.analysis.groups.load import Results, load_results
from morl_recipes.analysis.groups.panel import READINGS, Panel, Reading
from morl_recipes.analysis.groups.preference import PreferenceStatistics, preference_statistics
from morl_recipes.analysis.groups.statistics import MethodStatistics, detectable, panel_statistics

__all__ = [
    "READINGS",
    "MethodStatistics",
    "Panel",
    "PreferenceStatistics",
    "Reading",
    "Results",
    "alike",
    "detectable",
    "load_results",
    "panel_statistics",
    "preference_statistics",
]
