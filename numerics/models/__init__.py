"""What a model is, its parameters and the network behind it, and what a solution of it holds."""
