"""Batched torch environments of the paper and typed cards for the environments the recipes run on."""
