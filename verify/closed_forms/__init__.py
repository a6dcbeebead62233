"""Proofs of closed forms: algebra of the class, limits, balls."""
