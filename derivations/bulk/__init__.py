"""Deterministic equivalents of the bulk: one law, blocks, a network's own rows."""
