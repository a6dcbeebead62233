"""Closed forms of Gaussian averages, proposed by rules and proved by the heat equation."""
