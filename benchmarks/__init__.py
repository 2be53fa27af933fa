"""Benchmarks: what a speed or quality claim rests on. Each prints a table and writes it to ``benchmarks/results``."""
