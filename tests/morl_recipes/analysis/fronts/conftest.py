"""The fronts that the tests of :mod:`morl_recipes.running.fronts` train."""

from tests.morl_recipes.running.fronts.conftest import conditioned, decomposed

__all__ = ["conditioned", "decomposed"]
