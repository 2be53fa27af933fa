"""Recipes that assemble the blocks into PASTA, its baselines and its ablations."""
