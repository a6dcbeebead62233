"""Gaussian averages in ball arithmetic: enclosures with proved bounds."""
