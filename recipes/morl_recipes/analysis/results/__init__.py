"""Results of a store or dataset as arrays: a study per environment and group, with statistics and missing runs."""

from morl_recipes.analysis.results.load import Results, load_results
from morl_recipes.analysis.results.study import READINGS, Reading, Study

__all__ = ["READINGS", "Reading", "Results", "Study", "load_results"]
