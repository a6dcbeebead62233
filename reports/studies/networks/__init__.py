"""Studies of networks after a real gradient step."""
