"""The network's own bulk by a second route."""
