"""The saddle point solved: one group, several, many at once, any loss."""
