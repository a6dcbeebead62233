"""The saddle point of convex losses."""
