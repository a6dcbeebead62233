"""Certified solutions: Newton's method in balls."""
