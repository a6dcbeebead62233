"""Certified solutions and optima: Newton's method in balls."""
