"""Claims on the conditional Gaussian equivalence and closed forms."""
