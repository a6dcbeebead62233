"""Families of values along which assumptions hold, one for each value of the variable of a limit.

`along` looks for one, and `far_out` for the saddle points that are needed from some value of the variable on.
`formulas` says what functions are by their leaves, and `domination` what stays bounded along a family.
"""
