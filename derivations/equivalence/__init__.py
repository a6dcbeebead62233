"""The conditional Gaussian equivalence of the features and its coefficients."""
