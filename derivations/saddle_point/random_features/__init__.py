"""Random features without a spike: the square loss, any convex loss, plain equivalence."""
