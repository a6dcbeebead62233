"""The gradient step and leaps by a second route."""
