"""Claims on random features and limits."""
