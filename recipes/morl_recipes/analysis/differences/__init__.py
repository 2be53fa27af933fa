"""Two sets of results, row by row: what changed from one to the other, with intervals."""

from morl_recipes.analysis.differences.compare import RowDifference, compare_results
from morl_recipes.analysis.differences.show import difference_tables, open_results, render_difference

__all__ = ["RowDifference", "compare_results", "difference_tables", "open_results", "render_difference"]
