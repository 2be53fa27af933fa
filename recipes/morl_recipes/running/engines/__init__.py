"""Engines: who trains the populations of a sweep. The numbers do not depend on the choice."""

from morl_recipes.running.engines.events import Engine, Event, Failed, Finished, Lost, Stopped, Watch, Work
from morl_recipes.running.engines.inline import InlineEngine
from morl_recipes.running.engines.local import LocalEngine
from morl_recipes.running.engines.ray import RayEngine

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
