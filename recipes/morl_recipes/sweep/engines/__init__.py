"""Engines: who trains the populations of a sweep. The numbers do not depend on the choice."""

from morl_recipes.sweep.engines._events import Engine, Event, Failed, Finished, Lost, Stopped, Watch, Work
from morl_recipes.sweep.engines._inline import InlineEngine
from morl_recipes.sweep.engines._local import LocalEngine
from morl_recipes.sweep.engines._ray import RayEngine

__all__ = [
    "Engine",
    "Event",
    "Failed",
    "Finished",
    "InlineEngine",
    "LocalEngine",
    "Lost",
    "RayEngine",
    "Stopped",
    "Watch",
    "Work",
]
