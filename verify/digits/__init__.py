"""Digits: the public solve, which asks the solver or the theorems."""
