"""Fronts as pictures and pages."""
