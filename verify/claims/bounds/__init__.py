"""Claims on the bounds."""
