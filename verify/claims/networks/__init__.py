"""Claims on the network's own bulk."""
