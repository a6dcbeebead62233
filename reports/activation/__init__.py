"""The page of one activation."""
