"""Theorems that compute: what a derivation concludes, as functions over a number type, and its solution."""
