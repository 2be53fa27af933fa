"""Engines: who trains the populations of a sweep. The numbers do not depend on the choice."""
