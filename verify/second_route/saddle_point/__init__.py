"""The saddle point and its readouts by a second route."""
