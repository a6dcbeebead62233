"""Ways of getting evidence, and the mutants they have to refute."""
