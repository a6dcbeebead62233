"""Networks with any activation: their equations as they stand, and real ones."""
