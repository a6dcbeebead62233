"""What functions are: `formulas` that leaves give, values at `points`, and what stays bounded along a limit
(`domination`).
"""
