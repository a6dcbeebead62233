"""The spectrum of the features in numbers."""
