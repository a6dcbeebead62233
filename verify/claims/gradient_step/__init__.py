"""Claims on the gradient step."""
