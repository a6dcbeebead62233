"""What derivations are written in: symbols, steps, expectations, renderings."""
