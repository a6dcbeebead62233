"""The spectrum of the features: resolvent, log-determinant, covariance."""
