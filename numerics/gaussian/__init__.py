"""Gaussian averages in double precision."""
