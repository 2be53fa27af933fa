"""The report: one HTML file that opens offline, and the same figures as PNG and PDF.

The HTML needs plotly (extra ``report``); the PNG and PDF figures need only matplotlib.
"""

from morl_recipes.analysis.report.figures import write_figures
from morl_recipes.analysis.report.page import write_report

__all__ = ["write_figures", "write_report"]
