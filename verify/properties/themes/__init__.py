"""The properties by theme."""
