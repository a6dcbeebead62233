"""Models, their parameters, networks, and solutions."""
