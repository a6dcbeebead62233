"""Claims on the spectrum."""
