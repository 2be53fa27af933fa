"""Stealth visual search: find hidden targets in a cluttered arena, stay near its borders, and cover distance."""
