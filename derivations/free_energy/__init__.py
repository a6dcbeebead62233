"""The free energy by replicas, and what is dropped on the way."""
