"""The lower and the upper bound on the test error, for ridge regression and for any loss."""
