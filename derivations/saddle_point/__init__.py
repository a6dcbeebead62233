"""The saddle-point equations and their special cases."""
