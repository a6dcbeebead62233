"""The tree of an expression: reading, writing, algebra, calculus. The standard library only."""
