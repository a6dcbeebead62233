"""What the commands answer, as data and as tables."""
