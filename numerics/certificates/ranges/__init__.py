"""Certificates for all values of a parameter between two ends, or of two parameters over a plane."""
