"""The conditional map from definitions, and ridge readouts of it."""
