"""Fronts: many trade-offs from one training, played, kept and drawn."""

from morl_recipes.analysis.fronts.page import write_front_page
from morl_recipes.analysis.fronts.picture import draw_front
from morl_recipes.running.fronts.front import Front
from morl_recipes.running.fronts.recipe import front_recipe
from morl_recipes.running.fronts.train import train_front

__all__ = ["Front", "draw_front", "front_recipe", "train_front", "write_front_page"]
