"""The bounds on the test error in numbers, and the optima between them."""
