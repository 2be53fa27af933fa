"""Engines, which train the populations of a sweep. The numbers do not depend on the engine."""
