"""Readouts of any law: many letters, and the density that they tend to."""
