"""Fronts as pictures and pages."""

from morl_recipes.analysis.fronts.page import write_front_page
from morl_recipes.analysis.fronts.picture import draw_front

__all__ = ["draw_front", "write_front_page"]
