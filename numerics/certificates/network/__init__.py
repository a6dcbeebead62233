"""Certificates of a network's own bulk."""
