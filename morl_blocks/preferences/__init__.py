"""Preference samplers: the preference of each episode, when one policy is trained for all of them."""

from morl_blocks.preferences._base import PreferenceSampler
from morl_blocks.preferences.dirichlet import Dirichlet, Uniform, dirichlet_preferences
from morl_blocks.preferences.given import Given
from morl_blocks.preferences.grid import Grid, even_preferences

__all__ = [
    "Dirichlet",
    "Given",
    "Grid",
    "PreferenceSampler",
    "Uniform",
    "dirichlet_preferences",
    "even_preferences",
]
