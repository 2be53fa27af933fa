"""Stealth visual search: find hidden targets in a cluttered arena, keep to its borders, and cover ground."""
