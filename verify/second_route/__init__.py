"""The verifier's own numbers, which share no code with what they check."""
