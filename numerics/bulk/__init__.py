"""Deterministic equivalents of the bulk in numbers."""
